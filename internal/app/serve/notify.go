package serve

import (
	"net"
	"os"
)

// notify sends systemd the state of the service, as sd_notify(3) does: READY=1 or STOPPING=1 in a datagram to the socket that a unit with
// Type=notify names. Without one it does nothing. A server whose state cannot be sent works, so the error is only logged.
func (s *Server) notify(state string) {
	address := os.Getenv("NOTIFY_SOCKET") // one that begins with @ has no file
	if address == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		c.Close()
	}
	if err != nil {
		s.log.Warn("the state could not be sent to systemd", "state", state, "error", err.Error())
	}
}
