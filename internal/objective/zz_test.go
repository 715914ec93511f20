package objective
import ("testing";"time";"toptau/internal/matrix";"toptau/method";"toptau/threshold";"math/rand/v2";"slices";"fmt";"runtime")
func TestZZ(t *testing.T){
 for _, sh := range [][2]int{{131250,28},{6000,5000}} {
 r:=rand.New(rand.NewPCG(1,1))
 b:=matrix.NewBuilder(matrix.Layout{{Kind:matrix.Dense,Cols:sh[1]}},matrix.Float32)
 x:=make([]float64,sh[1])
 for i:=range sh[0] { for j:=range x { x[j]=r.Float64()+r.Float64()+r.Float64()-1.5; if i%2==0&&j%4==0 {x[j]+=0.5} }; b.Add(i%2==0,x,nil,nil,1,i) }
 m,_:=b.Build()
 for _, name := range []string{"toppushk","patmat-np","patmat","topmean-np","grill"} {
  me,_:=method.ByName(name)
  h:=method.Hyperparameters{Lambda:.001}
  if me.UsesTau {h.Tau=threshold.MustRate("1%")}
  if me.UsesBeta {h.Beta=1}
  if me.UsesK {h.K=5}
  p,_:=me.With(h)
  o,_:=New(p,m)
  w:=make([]float64,sh[1]); g:=make([]float64,sh[1])
  for th:=1; th<=2; th++ {
  runtime.GOMAXPROCS(th)
  l:=NewLockstep(1)
  var a,c,s,e []float64
  z:=make([]float64,sh[0])
  for k:=range 120 {
   for j:=range w { w[j]+=0.003*float64(1-2*(j%2))*r.Float64()*float64((j%4+1))/4; if k==0 {w[j]=0.1*r.Float64()} }
   t0:=time.Now(); o.At(w,g); t1:=time.Now(); l.At([]Point{{Objective:o,W:w,Grad:g}}); t2:=time.Now()
   m.Positives.Scores(w,z[:m.Positives.Rows()]); m.Negatives.Scores(w,z[m.Positives.Rows():]); t3:=time.Now()
   l.score(m, []*Point{{Objective:o,W:w,Grad:g}}, o.needsAll()); t4:=time.Now()
   a=append(a,t1.Sub(t0).Seconds()); c=append(c,t2.Sub(t1).Seconds()); s=append(s,t3.Sub(t2).Seconds()); e=append(e,t4.Sub(t3).Seconds())
  }
  q:=func(a []float64) float64 { slices.Sort(a); return 1e3*a[len(a)/20]}
  fmt.Printf("%v %s threads %d: At %.2f ms, Lockstep %.2f ms, exact scores %.2f ms, fast scores %.2f\n", sh,name,th,q(a),q(c),q(s),q(e))
  }
 }}
}
