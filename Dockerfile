# An image that has the program and the licences alone and runs it as a user without rights. A new volume at /work or /state belongs to that
# user. A folder of this machine does not, so the program runs as its owner:
#
#     docker build -t toptau . && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" toptau score model.json flows.csv -o scores.csv
#
# make dist writes an image with the same content that needs no daemon: toptau-VERSION-oci.tar.
FROM golang:1.26 AS build
WORKDIR /source
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /toptau ./cmd/toptau && mkdir -p /folders/work /folders/state

FROM scratch
COPY --from=build /toptau /toptau
COPY LICENSE THIRD-PARTY-LICENSES /licenses/
COPY --from=build --chown=65532:65532 /folders /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/toptau"]
