package solver
import ("testing";"syscall";"context";"fmt";"runtime";"toptau/method")
func cpu() float64 { var r syscall.Rusage; syscall.Getrusage(0,&r); return float64(r.Utime.Sec)+float64(r.Utime.Usec)/1e6+float64(r.Stime.Sec)+float64(r.Stime.Usec)/1e6 }
func BenchmarkZZ(b *testing.B){
 runtime.GOMAXPROCS(1)
 for _, s := range []shape{network,{"big",490000,60,.02}} {
 x := s.data(b)
 for _, names := range [][]string{{"topmean-np"},{"toppushk", "patmat-np", "topmean-np", "topmean"},{"grill-np"}} {
  all := benchGrid(b, names...)
  fit := func(ps []method.Problem, it int) float64 {
    tasks := make([]Task,len(ps)); for i,p := range ps { tasks[i].Full=bound(b,p,x) }
    t:=cpu(); AdamGrid(context.Background(),tasks,Options{Iterations:it}); return cpu()-t }
  it := 10000000/s.rows
  best1, best24 := 1e9,1e9
  for range 4 {
  one := 0.0
  for i := range names { one += (fit(all[i*24/len(names):][:1],4*it+10)-fit(all[i*24/len(names):][:1],10))/float64(len(names))/4 }
  best1=min(best1,one)
  best24=min(best24,fit(all,it+10)-fit(all,10)) }
  fmt.Println("ZZ",s.name,names,"one",1e3*best1/float64(it),"ms, 24:",1e3*best24/float64(it),"ratio",best24/best1)
 }}
}
