// Scores the jobs of readers_test.go: readers_score.mjs JOBS ANSWERS.
import { readFileSync, writeFileSync } from "node:fs";
import { Model, ToptauError } from "../../js/toptau.mjs";

const view = new DataView(new ArrayBuffer(8));

function bits(x) {
  view.setFloat64(0, x);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

const many = 1000;

/** Scores rows one by one, or very many, which must all have a score, together. */
function scored(model, rows) {
  if (rows.length > many) return { scores: Array.from(model.decisionFunction(rows), bits), errors: rows.map(() => "") };
  const scores = [];
  const errors = [];
  for (const row of rows) {
    try {
      scores.push(bits(model.score(row)));
      errors.push("");
    } catch (e) {
      if (!(e instanceof ToptauError)) throw e;
      scores.push("");
      errors.push(e.message);
    }
  }
  return { scores, errors };
}

/** Scores the rows together that have a score; the first of the others must be refused, with its row. */
function batch(model, rows, scores) {
  if (scores.includes("")) {
    try {
      model.decisionFunction(rows);
      return "rows without a score were scored";
    } catch (e) {
      if (e.row - 1 !== scores.indexOf("")) return `row ${e.row} was refused: ${e.message}`;
    }
  }
  const kept = rows.filter((_, i) => scores[i]);
  const forms = [kept];
  if (model.columns.length > 0) forms.push(kept.map((row) => model.columns.map((name) => row[name])));
  for (const form of forms) {
    const got = Array.from(model.decisionFunction(form), bits);
    if (got.join() !== scores.filter((s) => s).join()) return "the batch has other scores";
  }
  return "";
}

async function answer(job) {
  const model = await Model.load(job.model);
  const { scores, errors } = scored(model, job.rows);
  const first = scored(model, job.rows.slice(0, many)).scores;
  const out = { scores, errors, batch: batch(model, job.rows.slice(0, many), first), decisions: {} };
  if (first.join() !== scores.slice(0, many).join()) out.batch = "one by one, rows have other scores than together";
  if (job.numbers) {
    out.numbers = scored(model, job.numbers).scores;
    out.batch = out.batch || batch(model, job.numbers, out.numbers);
  }
  const kept = job.rows.filter((_, i) => scores[i]);
  for (const { name } of model.points) out.decisions[name] = model.predict(kept, { at: name }).map(Number);
  if (model.hasProbability) {
    out.probabilities = Array.from(model.probability(kept), bits);
    out.at_prevalence = Array.from(model.probability(kept, { prevalence: 0.001 }), bits);
  }
  out.explain = job.rows.slice(0, job.explain).map((row) => {
    const e = model.explain(row);
    const reasons = e.reasons.map((r) => [r.column, r.value, bits(r.adds), bits(r.aboveAverage)]);
    return { score: bits(e.score), offset: bits(e.offset), rounding: bits(e.rounding), reasons, missing: e.missing, unknown: e.unknown };
  });
  return out;
}

const answers = [];
for (const job of JSON.parse(readFileSync(process.argv[2], "utf8"))) answers.push(await answer(job));
writeFileSync(process.argv[3], JSON.stringify(answers));
