// Tests of toptau.mjs: node --test. integration/readers_test.go compares scores with toptau's own on many models.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Model, ToptauError } from "./toptau.mjs";

const path = (name) => new URL(`../model/testdata/${name}.json`, import.meta.url);
const content = (name) => readFileSync(path(name), "utf8");
const model = (name = "complete") => Model.parse(content(name));

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Returns a model file with a new digest and a new checksum. */
function sealed(text) {
  text = text.replace(/^([^]*\n)("digest": "sha256:)[0-9a-f]*/, (_, lines, start) => `${lines}${start}${sha256(lines)}`);
  return resummed(text);
}

/** Returns a model file with a new checksum alone. */
function resummed(text) {
  const body = text.slice(0, text.lastIndexOf('"checksum"'));
  return `${body}"checksum": "sha256:${sha256(body)}"\n}\n`;
}

function changed(name, old, now) {
  assert.ok(content(name).includes(old), old);
  return sealed(content(name).replace(old, () => now));
}

function refused(data, pattern = /^m\.json: /) {
  assert.throws(() => Model.parse(data, { name: "m.json" }), (e) => e instanceof ToptauError && pattern.test(e.message));
}

const row = { bytes: "5", service: "http", zero: "0", label: "normal" };

test("a number is one category however it is written", () => {
  for (const [known, unknown] of [["3", "3.0"], ["3.0", "3"]]) {
    const m = Model.parse(sealed(content("complete").replaceAll("http", known)));
    const want = m.score({ ...row, service: known });
    for (const service of [3, 3n, 3.0]) assert.equal(m.score({ ...row, service }), want);
    assert.notEqual(m.score({ ...row, service: unknown }), want); // a text is what is written
  }
  assert.equal(model().explain({ ...row, bytes: 1e6 }).reasons.find((r) => r.column === "bytes")?.value, "1000000");
});

test("scores by hand", () => {
  const scaled = (x) => Math.fround((x - 5) / Math.sqrt(5)) * (1 / 3);
  for (const [bytes, service, want] of [
    ["5", "http", 0.125 - 0.25], ["7.5", "http", scaled(7.5) + 0.125 - 0.25], [" +1e1\t", "http", scaled(10) + 0.125 - 0.25], [7.5, "http", scaled(7.5) + 0.125 - 0.25],
    [5, "unheard of", -0.25], ["", "http", -2 + 0.125 - 0.25], [" NA ", "http", -2 + 0.125 - 0.25], [null, "http", -2 + 0.125 - 0.25], [NaN, "http", -2 + 0.125 - 0.25],
    [5, null, 0.5 - 0.25], ["5", " NA ", 0.5 - 0.25], ["5", 'f<t>p "ü"', 1e-17 - 0.25],
    ["NaN", " http\t", -2 + 0.125 - 0.25], [" True", "http ", scaled(1) + 0.125 - 0.25], ["f", "http", scaled(0) + 0.125 - 0.25], [5n, "http", 0.125 - 0.25],
  ]) {
    const record = { ...row, bytes, service };
    assert.equal(model().score(record), want);
    assert.equal(model().score([bytes, service, "0"]), want);
    assert.equal(model().score({ bytes, service }), want); // zero is constant in training
    assert.equal(model().score(new Map(Object.entries(record))), want);
    assert.deepEqual([...model().decisionFunction([record, [bytes, service, 0]])], [want, want]);
  }
});

test("every file loads, from a path, an address and bytes", async () => {
  for (const name of ["plain", "complete", "columns", "redacted"]) {
    const digest = /sha256:([0-9a-f]+)"\n}\n$/.exec(content(name))[1];
    for (const m of [model(name), Model.parse(readFileSync(path(name))), await Model.load(path(name)), await Model.load(path(name).pathname), await Model.load(pathToFileURL(path(name).pathname).href)]) {
      assert.equal(m.digest, "sha256:" + digest);
      assert.equal(m.columns.length, 3);
    }
  }
  await assert.rejects(Model.load("no-such-file"), /^ToptauError: no-such-file: the model cannot be read/);
  await assert.rejects(Model.load("/dev/zero"), /not a toptau model|cannot be read/);
  await assert.rejects(Model.load(path("complete"), { maxBytes: 1000 }), /more than 1000 bytes/);
});

test("errors name row, column and remedy", () => {
  for (const [rows, want] of [
    [[row, { service: "x" }], 'row 2: rows without "bytes", expected the 2 columns that the model needs'], [[row, { ...row, bytes: "many" }], 'row 2: column "bytes": "many", expected a number'],
    [[{ ...row, bytes: "-inf" }], "expected a number"], [[{ ...row, bytes: "0x10" }], "expected a number"], [[{ ...row, bytes: "1_0" }], "expected a number"],
    [[{ ...row, bytes: "1\n" }], "expected a number"], [[{ ...row, bytes: "1e999" }], "expected a number"], [[{ ...row, bytes: "5" + ".0".padEnd(4096, "0") }], "expected a number"], [[{ ...row, bytes: Infinity }], "expected a finite number"],
    [[{ ...row, bytes: {} }], "expected a text or a number"], [[{ ...row, bytes: 1e300 }], "too large to be scored"], [[{ ...row, zero: "x" }], 'column "zero": "x"'],
    [[[1, 2]], "rows of 2 values, expected 3"], [[1], "a row of type number"], [row, "rows of type object"], ["text", "rows of type string"],
  ]) {
    assert.throws(() => model().decisionFunction(rows), (e) => e instanceof ToptauError && e.message.includes(want), want);
  }
  assert.equal(model().score({ ...row, bytes: " 5" + ".0".padEnd(4095, "0") + " " }), model().score({ ...row, bytes: "5" })); // the longest number, and blanks
  assert.throws(() => model("columns").score({ at: "2024-05-31", src: "10.0.0.1", agent: "" }), /a missing value, expected a category \(train with --impute/);
});

test("operating points, segments and probabilities", () => {
  const m = model();
  assert.deepEqual(m.points.map((p) => p.name), ["default", "per id"]);
  const rows = ["a", "b", "c", null].map((id) => ({ ...row, bytes: 12, id }));
  const [score] = m.decisionFunction(rows);
  assert.deepEqual(m.predict(rows), [true, true, true, true]);
  assert.deepEqual(m.predict(rows, { at: "per id" }), [2, 3, 1, 1].map((t) => score > t));
  assert.throws(() => m.predict(rows, { at: "none" }), /"none", expected one of its operating points: "default", "per id"/);
  assert.throws(() => m.predict([row], { at: "per id" }), /rows without "id"/);
  const p = m.probability([-100, 5, 100].map((bytes) => ({ ...row, bytes })));
  assert.ok(Math.abs(p[0] - 0.01) < 1e-12 && p[0] < p[1] && Math.abs(p[2] - 0.75) < 1e-12);
  assert.throws(() => m.probability([row], { prevalence: 0 }), /a prevalence of 0/);
  assert.throws(() => model("columns").probability([]), /a model without probabilities/);
});

test("an explanation adds up", () => {
  const e = model().explain({ ...row, bytes: "7.5", service: null });
  assert.deepEqual(e.reasons.map((r) => r.column).sort(), ["bytes", "service"]);
  assert.equal(e.reasons.reduce((sum, r) => sum + r.adds, e.offset) + e.rounding, e.score);
  assert.deepEqual([e.missing, e.unknown], [["service"], []]);
  assert.deepEqual(model().explain({ ...row, service: "?" }).unknown, ["service"]);
});

test("times, addresses, nested names, and true and false", () => {
  const m = model("columns");
  const record = { at: "2024-05-31 13:00:00", src: "10.1.2.3", agent: "agent 0" };
  for (const at of [new Date("2024-05-31T13:00:00Z"), "2024-05-31T15:00:00+02:00", 1717160400, 1717160400e3]) {
    assert.equal(m.score({ ...record, at }) === m.score(record), at !== "2024-05-31T15:00:00+02:00", String(at)); // the hour is that of the zone
  }
  assert.equal(m.score({ ...record, src: "::ffff:10.9.9.9" }), m.score(record));
  for (const [change, pattern] of [[{ at: "noon" }, /expected a time such as/], [{ at: "2023-02-29" }, /expected a time/], [{ src: "host" }, /expected an IP address/],
                                   [{ src: "01.2.3.4" }, /IP address/], [{ src: "1:::2" }, /IP address/], [{ src: "1:2:3:4:5:6:7:8:9" }, /IP address/], [{ src: "::1%" }, /IP address/]]) {
    assert.throws(() => m.score({ ...record, ...change }), pattern);
  }
  const nested = Model.parse(sealed(content("complete").replaceAll('"name":"bytes"', '"name":"flow.bytes"')));
  assert.equal(nested.score({ ...row, flow: { bytes: 7.5 } }), model().score({ ...row, bytes: 7.5 }));
  for (const padded of [{ ...row, " flow": { "bytes ": 7.5 } }, { " flow.bytes ": 7.5, "service\t": "http" }, new Map([[" flow.bytes", 7.5], ["service", "http"]])]) {
    assert.equal(nested.score(padded), model().score({ ...row, bytes: 7.5 }));
  }
  assert.throws(() => nested.score({ ...row, " flow": { " bytes": 7.5 } }), /rows without "flow.bytes"/);
  assert.equal(m.score({ " at": new Date("2024-05-31T13:00:00Z"), src: record.src, agent: record.agent }), m.score(record));
  const priced = Model.parse(sealed(content("complete").replace('"number":1,"kind":"numeric"', '"number":1,"kind":"numeric","unit":"$"')));
  for (const bytes of ["$ 7.5", "7.5$", "+$7.5", 7.5]) assert.equal(priced.score({ ...row, bytes }), model().score({ ...row, bytes: 7.5 }), String(bytes));
  assert.throws(() => priced.score({ ...row, bytes: "7.5 €" }), /with or without \$/);
  assert.throws(() => Model.parse(sealed(content("complete").replace('"number":1,"kind":"numeric"', '"number":1,"kind":"numeric","unit":"x"'))), /column "bytes"/);
  const flags = Model.parse(sealed(content("complete").replaceAll('"http"', '"True"')));
  assert.equal(flags.score({ ...row, service: true }), flags.score({ ...row, service: "True" }));
});

test("damaged files are refused", () => {
  const data = readFileSync(path("complete"));
  for (let i = 0; i < data.length; i += 7) {
    const damaged = Uint8Array.from(data);
    damaged[i] ^= 1 << (i % 8);
    refused(damaged);
  }
  for (let n = 0; n < data.length; n += 97) refused(data.subarray(0, n));
  refused(content("complete") + "\n");
  refused("", /an empty file, not a toptau model/);
  refused("{}", /not a toptau model/);
  refused('{\n"toptau_model": 3,\n', /format 3, this reader reads format 1/);
});

test("edits with a new checksum are refused", () => {
  for (const [old, now] of [
    ["[0.3333333333333333]", "[0.3333333333333334]"], ['"offset":-0.25', '"offset":-0.5'], ['"shift":[5]', '"shift":[5.0]'], ['"shift":[5]', '"shift":[ 5]'],
    ['"shift":[5]', '"shift":[5,6]'], ['"shift":[5]', '"shift":[1e999]'], ['"shift":[5]', '"shift":["5"]'], ['"shift":[5]', '"shift":[true]'],
    ['"scale":[2.23606797749979]', '"scale":[0]'], ['"inputs":[0]', '"inputs":[1]'], ['"inputs":[0]', '"inputs":[9]'], ['"inputs":[0]', '"inputs":[-1]'], ['"input":1', '"input":7'],
    ['"missing":true', '"missing":1'], ['{"levels":', '{"future":'], ['{"levels":', '{"constructor":'], ['"missing":"indicator"', '"missing":"guess"'],
    ['"texts"', '"__proto__"'], ['{"input":1', '{"input":1,"input":1'], ['"weights":[-2]', '"weights":[-2,1]'], ['"weights":[-2]', '"weights":[]'], ['{"levels":', '{"cards":[],"levels":'],
    ['"toptau_model": 1', '"toptau_model": 2'], ['"points": [', '"point": ['], ['"score":-0.125', '"score":-0.126'], ['"http"', '"ht\\u0074p"'], ['"threshold":0.1', '"threshold":1e-1'],
    ['"schema": {', '"schema":  {'], ['"program": {', '"extra": 1,\n"program": {'], [/"program": .*\n/.exec(content("complete"))[0], ""], ['"offset":-0.25', '"offset":-0.25,"extra":1'], ['"name":"per id"', '"name":"default"'],
  ]) {
    refused(changed("complete", old, now));
  }
  for (const [old, now] of [["1e-17", "1.0001e-17"], ['"name":"bytes"', '"name":"octets"'], ['"dropped":[{"column":2', '"dropped":[{"column":1']]) {
    refused(resummed(content("complete").replaceAll(old, now)), /do not belong together|probe row/);
    Model.parse(sealed(content("complete").replaceAll(old, now))); // another model
  }
});

test("texts with escapes are read", () => {
  for (const code of ["007f", "009b", "061c", "200e", "202e", "2069"]) {
    const m = Model.parse(sealed(content("complete").replaceAll('"http"', `"\\u${code}"`)));
    assert.equal(m.score({ bytes: 5, service: String.fromCharCode(parseInt(code, 16)) }), model().score({ bytes: 5, service: "http" }));
  }
});

test("hostile files are refused", () => {
  const lines = content("complete").split("\n");
  const program = lines.findIndex((line) => line.startsWith('"program"'));
  const many = 2 ** 18;
  for (const text of ["[".repeat(many) + "]".repeat(many), '{"a":'.repeat(many) + "1" + "}".repeat(many), "9".repeat(many), '"'.repeat(many + 1), `[${"[],".repeat(many)}[]]`,
                      `{${Array.from({ length: many }, (_, i) => `"k${i}":0`)}}`]) {
    refused(sealed(lines.with(program, `"program": ${text},`).join("\n")));
  }
  refused(sealed(content("complete").replace('"probes": [\n', '"probes": [\n' + '{"fields":["5","http","0"],"score":-0.125},\n'.repeat(100))), /probe rows/);
  const deep = { ask: [...new Array(50000).fill(0), ...new Array(50001).fill(-1)], at: Array.from({ length: 50000 }, (_, i) => i), mass: new Array(50001).fill(1), weights: new Array(50001).fill(1) };
  const trees = { missing: "indicator", columns: [0], terms: [{ trees: { inputs: [0], trees: [deep] } }], offset: 0 };
  refused(sealed(lines.with(program, `"program": ${JSON.stringify(trees)},`).filter((line) => !line.startsWith('"averages"')).join("\n")), /probe row 1 scores/);
});
