package baseline
import ("testing";"time";"math/rand/v2";"sort";"toptau/internal/matrix";"toptau/internal/table";"toptau/method")
func TestX(t *testing.T){
 l:=load(t,"magic04"); x:=l.pack(t,nil)[0]
 n:=x.Rows(); np:=x.Positives.Rows()
 const G,L=60,160
 r:=rand.New(rand.NewPCG(1,2))
 codes:=make([][]int,G)
 for g:=range codes { w:=make([]float64,x.Cols()); for j:=range w { if r.IntN(3)==0 {w[j]=2*r.Float64()-1} }
  z:=make([]float64,n); x.Positives.Scores(w,z[:np]); x.Negatives.Scores(w,z[np:])
  s:=append([]float64(nil),z...); sort.Float64s(s)
  codes[g]=make([]int,n); for i:=range z { codes[g][i]=min(L-1,sort.SearchFloat64s(s,z[i])*L/n) } }
 groups:=make([]matrix.Group,G); for g:=range groups {groups[g].Levels=L}
 b:=matrix.NewBuilder(matrix.Layout{matrix.CodedSpec(groups)},matrix.Float32)
 for i:=range n { cols,vals:=[]uint32{},[]float64{}; for g:=range groups { cols=append(cols,uint32(g*L+codes[g][i])); vals=append(vals,1)}; b.Add(i<np,nil,cols,vals,1,i) }
 y,err:=b.Build(); if err!=nil {t.Fatal(err)}
 for _,loss:=range []Loss{0,1} { for _,la:=range []float64{1e-2,1e-3,3e-4,1e-4} { for _,tol:=range []float64{1e-3,1e-8} {
  st:=time.Now(); f:=fit(t,y,Options{Loss:loss,Lambda:la,Tolerance:tol}); t.Logf("leaves %v %v tol %v: F %.8f gap %.1e steps %d passes %d %.2fs %v",loss,la,tol,f.Objective,f.Objective-f.LowerBound,f.Steps,f.Passes,time.Since(st).Seconds(),f.Reason)
  if loss==0&&tol==1e-8 { st=time.Now(); p:=ramp1(t,y,RampOptions{Anchor:f.W,Population:method.Negatives}); t.Logf("   ramp %v from %v steps %d %.2fs",p.Objective,p.AtAnchor,p.Steps,time.Since(st).Seconds()) }
 }}}
}
func TestY(t *testing.T){
 sets["kddcup99"]=set{"kddcup99/kddcup.data_10_percent.gz", table.Options{Label: "last", Positive: []string{
		"guess_passwd.", "ftp_write.", "imap.", "phf.", "multihop.", "warezmaster.", "warezclient.", "spy.",
		"buffer_overflow.", "loadmodule.", "rootkit.", "perl."}}}
 x:=load(t,"kddcup99").pack(t,nil)[0]
 for _,loss:=range []Loss{0,1} { for _,la:=range []float64{1e-3,1e-5} { for _,tol:=range []float64{1e-3,1e-8} {
  st:=time.Now(); f:=fit(t,x,Options{Loss:loss,Lambda:la,Tolerance:tol}); t.Logf("kddcup99 %dx%d %v %v tol %v: F %.8f gap %.1e steps %d passes %d %.2fs %v",x.Rows(),x.Cols(),loss,la,tol,f.Objective,f.Objective-f.LowerBound,f.Steps,f.Passes,time.Since(st).Seconds(),f.Reason)
  if loss==0&&tol==1e-8 { st=time.Now(); p:=ramp1(t,x,RampOptions{Anchor:f.W,Population:method.Negatives}); t.Logf("   ramp %v from %v steps %d %.2fs",p.Objective,p.AtAnchor,p.Steps,time.Since(st).Seconds()) }
 }}}
}
