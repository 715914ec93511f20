// The page of toptau ui in Chromium. Times are printed and decide nothing.
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync} from "node:fs";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {chromium} from "playwright-core";

const out = join(import.meta.dirname, "out"), toptau = join(out, "toptau");
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP rebound.test 127.0.0.1"];
const run = (...args) => execFileSync(toptau, args, {cwd: out, stdio: ["ignore", "pipe", "pipe"]}).toString();

let profile, browser;
const servers = [];

before(async () => {
  if (!existsSync(join(out, "million.csv"))) await writeMillion(join(out, "million.csv"));
  const rows = ["--attacks", "--context", "--rows", "20000"];
  run("generate", "detectors", ...rows, "-o", "flows.csv");
  run("generate", "detectors", ...rows, "--seed", "7", "-o", "later.csv");
  run("generate", "detectors", ...rows, "--seed", "8", "-o", "held.csv");
  run("train", "flows.csv", "--label", "label", "--drop", "attack,host", "--id", "flow", "--time", "time", "--max-fpr", "1%", "--delta", "5%",
    "--encoding", "raw,scorecard", "--method", "logistic", "-q", "-o", "m.json");
  profile = mkdtempSync(join(tmpdir(), "toptau-browser-"));
  browser = await chromium.launchPersistentContext(profile, {executablePath: process.env.CHROMIUM, args: flags});
});

after(async () => {
  for (const server of servers) server.kill("SIGINT");
  await browser?.close();
  if (profile) rmSync(profile, {recursive: true, force: true});
});

// writeMillion writes a million scores of normal distributions with a fixed seed.
async function writeMillion(path) {
  let state = 1;
  const uniform = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return (state + 1) / 4294967297; };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const file = createWriteStream(path);
  file.write("id,score,label\n");
  let text = "";
  for (let i = 0; i < 1e6; i++) {
    const y = uniform() < 0.02 ? 1 : 0;
    text += `r${i},${(normal() + 2.2 * y).toFixed(6)},${y}\n`;
    if (text.length > 1 << 20) { file.write(text); text = ""; }
  }
  file.end(text);
  await new Promise(done => file.on("finish", done));
}

// serve starts toptau ui and returns its address.
async function serve(...args) {
  const server = spawn(toptau, ["ui", "--json", ...args], {cwd: out, stdio: ["ignore", "pipe", "inherit"]});
  servers.push(server);
  let text = "";
  for await (const part of server.stdout) {
    text += part;
    if (text.includes("\n")) return {server, address: JSON.parse(text).address};
  }
  throw new Error("toptau ui ended: " + text);
}

// open opens an address in a new tab and fails on messages of the console.
async function open(address, width = 1400) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", m => messages.push(m.text()));
  page.on("pageerror", e => messages.push(e.message));
  await page.setViewportSize({width, height: 1000});
  await page.goto(address);
  await page.waitForSelector("#lines tr");
  return {page, messages};
}

// stop ends a server as Ctrl-C does and checks its exit code.
async function stop(server) {
  const ended = new Promise(done => server.on("exit", done));
  server.kill("SIGINT");
  assert.equal(await ended, 0, "exit code after Ctrl-C");
}

const quantile = (list, p) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(p * list.length))];

test("a million scored rows", async () => {
  const {server, address} = await serve("million.csv", "--label", "label", "--id", "id");
  const {page, messages} = await open(address);
  await page.waitForSelector("#budget-figures .uplot canvas");
  const loaded = await page.evaluate(() => ({paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    bytes: performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((sum, e) => sum + e.transferSize, 0),
    charts: document.querySelectorAll("#panel-budget .uplot canvas").length}));
  assert.ok(loaded.bytes < 200e3, `the page has ${loaded.bytes} bytes`);
  assert.equal(loaded.charts, 2);
  const paints = [];
  for (let i = 0; i < 7; i++) { // the tab keeps its secret
    await page.reload();
    await page.waitForSelector("#lines tr");
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  }
  const shown = await page.evaluate(() => performance.now());
  await page.focus("#slider");
  const goals = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press(i < 40 ? "ArrowLeft" : "ArrowRight");
    await page.waitForTimeout(30);
    goals.add(await page.textContent("#goal"));
  }
  const answers = await page.evaluate(() => performance.getEntriesByType("resource").filter(e => e.name.endsWith("/api/budget")).map(e => e.duration));
  assert.ok(goals.size > 30 && answers.length > 40, `${goals.size} budgets, ${answers.length} answers`);
  const began = Date.now();
  await page.click("#tab-rows");
  await page.waitForSelector("#row-list tr");
  const listed = Date.now() - began;
  await page.click("#row-threshold");
  await page.waitForFunction(() => document.querySelector("#row-list td:last-child")?.textContent === "alert" &&
    [...document.querySelectorAll("#row-list tr")].at(-1).lastElementChild.textContent === "no alert");
  console.log(`first paint ${loaded.paint.toFixed(0)} ms in a new tab, then median ${quantile(paints, 0.5).toFixed(0)} of ${paints.map(p => p.toFixed(0))}; ` +
    `slider answers: median ${quantile(answers, 0.5).toFixed(1)} ms, 95 % ${quantile(answers, 0.95).toFixed(1)}, most ${Math.max(...answers).toFixed(1)} ` +
    `of ${answers.length}; list ${listed} ms; ${loaded.bytes} bytes, ${loaded.charts} charts (${shown.toFixed(0)} ms)`);
  assert.deepEqual(messages, []);
  await page.close();
  await stop(server);
});

test("curves: values under the pointer, a click, zoom and back", async () => {
  const {server, address} = await serve("m.json", "later.csv");
  const {page, messages} = await open(address);
  const over = page.locator("#budget-curve .u-over"), ticks = () => page.evaluate(() => document.querySelector("#budget-curve .u-legend").textContent);
  await over.hover({position: {x: 150, y: 50}});
  await page.waitForFunction(() => /recall\)[\d.]+ %.*chance[\d.]+ %/.test(document.querySelector("#budget-curve .u-legend").textContent));
  const before = await page.textContent("#goal");
  await over.click({position: {x: 150, y: 50}});
  await page.waitForFunction(text => document.getElementById("goal").textContent !== text, before);
  const shown = await ticks(), box = await over.boundingBox(), goal = await page.textContent("#goal");
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 250, box.y + 60, {steps: 5});
  await page.mouse.up();
  await over.hover({position: {x: 150, y: 50}});
  await page.waitForFunction(text => document.querySelector("#budget-curve .u-legend").textContent !== text, shown);
  assert.equal(await page.textContent("#goal"), goal, "dragging does not set the budget");
  await over.dblclick({position: {x: 150, y: 50}});
  await page.waitForFunction(text => document.querySelector("#budget-curve .u-legend").textContent === text, shown);
  await page.waitForTimeout(500);
  assert.equal(await page.textContent("#goal"), goal, "a double click does not set the budget");
  assert.deepEqual(messages, []);
  await page.close();
  await stop(server);
});

test("a walk by keyboard: budget, rows, what if, save", async () => {
  rmSync(join(out, "m2.json"), {force: true});
  const {server, address} = await serve("m.json", "later.csv", "--held-out", "held.csv", "--delta", "5%", "-o", "m2.json");
  const {page, messages} = await open(address);
  const active = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  const tabTo = async id => { // Tab until an element has the focus
    for (let i = 0; i < 150; i++) {
      if (await active() === id) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${id}`);
  };
  await tabTo("tab-budget");
  await tabTo("slider");
  const before = await page.textContent("#goal");
  await page.keyboard.press("Home");
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction(text => document.getElementById("goal").textContent !== text, before);
  assert.match(await page.getAttribute("#slider", "aria-valuetext"), /% of the positives found, precision/);
  await tabTo("rate");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("0.5");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.getElementById("goal").textContent.includes("0.5 %"));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("many");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#budget-problem:not([hidden])");
  assert.match(await page.textContent("#budget-problem"), /many/);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("2");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("budget-problem").hidden && document.getElementById("goal").textContent.includes("2 %"));
  assert.equal(await page.getAttribute("#budget-curve .chart", "data-marks"), "plain threshold; with a guarantee; the model's own, of its point goal");
  await tabTo("point-name");
  await page.keyboard.type("looked");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("saved").textContent.startsWith("Saved looked"));
  assert.match(await page.textContent("#saved"), /confidence of 95 %, from held\.csv/);
  await page.keyboard.press("Enter"); // the name is taken now
  await page.waitForFunction(() => document.getElementById("saved").textContent.includes("which the model has"));

  await page.focus("#tab-budget");
  await page.keyboard.press("ArrowRight");
  assert.equal(await active(), "tab-rows");
  await page.waitForSelector("#row-list button");
  for (let i = 0; i < 50 && !(await page.evaluate(() => document.activeElement.classList.contains("detail"))); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#row-detail:not([hidden])");
  assert.equal(await active(), "row-detail");
  for (let i = 0; i < 10 && await active() !== "cell-0"; i++) await page.keyboard.press("Tab");
  assert.equal(await active(), "cell-0");
  const verdict = await page.textContent("#row-verdict");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("0.1");
  await page.keyboard.press("Enter");
  await page.waitForFunction(text => document.getElementById("row-verdict").textContent !== text, verdict);
  assert.match(await page.textContent("#row-verdict"), /before/);
  assert.equal(await active(), "cell-0");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("abc");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#row-problem:not([hidden])");
  assert.match(await page.textContent("#row-problem"), /"abc", expected a number/);
  await tabTo("reset");
  await page.keyboard.press("Enter");
  await page.waitForFunction(text => document.getElementById("row-verdict").textContent === text, verdict);

  await page.focus("#tab-rows");
  await page.keyboard.press("End");
  assert.equal(await active(), "tab-points");
  assert.deepEqual(await page.locator("#points h2").allTextContents(), ["goal, the default", "looked"]);
  assert.deepEqual(messages.filter(m => !m.includes("422")), []); // refused questions leave a message in the console
  await page.close();
  await stop(server);
  const model = JSON.parse(readFileSync(join(out, "m2.json")));
  const point = model.points.find(p => p.name === "looked");
  assert.ok(point.guarantee.certified && model.history.at(-1).note.includes("later.csv"), "the saved point has a guarantee and a history");
  assert.match(run("score", "m2.json", "later.csv", "--at", "looked", "--best", "3"), /score/);
});

test("narrow and wide, light and dark: no finding of axe, nothing cut off", async () => {
  const findings = [];
  for (const width of [390, 1400]) {
    const {server, address} = await serve("m.json", "later.csv");
    const {page} = await open(address, width);
    await page.addScriptTag({path: axe}).catch(() => page.evaluate(readFileSync(axe, "utf8"))); // the page's policy refuses the tag
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({colorScheme: scheme});
      for (const tab of ["budget", "rows", "columns", "drift", "points"]) {
        await page.click("#tab-" + tab);
        if (tab === "rows") {
          await page.click("#row-top");
          await page.locator("button.detail").first().click();
          await page.waitForSelector("#row-figures figure");
        }
        await page.waitForFunction(tab => !document.getElementById(tab + "-status")?.textContent.includes("..."), tab);
        await page.waitForTimeout(200);
        const shown = {columns: "#column-figures figure", drift: "#drift section", points: ".point", rows: "#row-list tr", budget: "#lines tr"}[tab];
        assert.ok(await page.locator(shown).count() > 0, `${tab} is empty: ${await page.locator("#panel-" + tab).textContent()}`);
        await page.screenshot({path: join(out, `${tab}-${width}-${scheme}.png`), fullPage: true});
        const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(scroll <= width, `${tab} at ${width} pixels is ${scroll} wide`);
        if (tab === "budget") {
          assert.ok(await page.evaluate(() => document.querySelector(".answer .table").scrollWidth <= document.querySelector(".answer .table").clientWidth),
            `the table of the budget scrolls at ${width} pixels`);
        }
        const result = await page.evaluate(() => axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}));
        for (const v of result.violations) findings.push(`${tab} ${width} ${scheme}: ${v.impact} ${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join("; ")}`);
      }
    }
    await page.close();
    await stop(server);
  }
  console.log(findings.length ? findings.join("\n") : "axe: nothing found");
  assert.deepEqual(findings.filter(f => / (serious|critical) /.test(f)), []);
});

test("other pages, other names and used addresses reach nothing", async () => {
  const {server, address} = await serve("million.csv", "--label", "label", "--id", "id");
  const {page} = await open(address);
  const port = new URL(address).port;
  const second = await browser.newPage();
  await second.goto(address);
  await second.waitForSelector("#problem:not([hidden])");
  assert.match(await second.textContent("#problem"), /used before/);
  assert.equal((await second.goto(`http://rebound.test:${port}/`)).status(), 421);
  const secret = await page.evaluate(() => sessionStorage.getItem("toptau-session"));
  assert.ok(secret && !page.url().includes("#"), "the address keeps no token");
  const other = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!DOCTYPE html><title>other</title>"));
  await new Promise(done => other.listen(0, "127.0.0.1", done));
  await second.goto(`http://127.0.0.1:${other.address().port}/`);
  const stolen = await second.evaluate(async ({port, secret}) => {
    const tries = [];
    for (const headers of [{}, {"X-Toptau-Session": secret}]) {
      tries.push(await fetch(`http://127.0.0.1:${port}/api/overview`, {method: "POST", body: "{}", headers}).then(r => r.text(), e => "refused: " + e.message));
    }
    tries.push(await fetch(`http://127.0.0.1:${port}/api/overview`, {method: "POST", body: "{}", mode: "no-cors"}).then(r => r.type, e => "refused: " + e.message));
    const frame = document.createElement("iframe");
    frame.src = `http://127.0.0.1:${port}/`;
    document.body.append(frame);
    await new Promise(done => { frame.onload = done; setTimeout(done, 2000); });
    let inside = null;
    try { inside = frame.contentDocument; } catch { /* another origin */ }
    tries.push(inside ? "read" : "refused");
    return tries;
  }, {port, secret});
  other.close();
  for (const answer of stolen) assert.ok(answer.startsWith("refused") || answer === "opaque", answer);
  await second.close();
  await page.close();
  await stop(server);
});

test("the slider of a report, by keyboard, without a server, and not in print", async () => {
  run("evaluate", "m.json", "later.csv", "--report", "report.html");
  const page = await browser.newPage();
  const messages = [];
  page.on("console", m => messages.push(m.text()));
  await page.goto("file://" + join(out, "report.html"));
  const slider = page.locator(".explorer input");
  await slider.focus();
  const before = await page.locator(".explorer dl").textContent();
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowRight");
  const text = await page.locator(".explorer dl").textContent();
  assert.notEqual(text, before);
  assert.match(await slider.getAttribute("aria-valuetext"), /positives found \d/);
  assert.match(text, /precision\d[\d.]*\s% \([\d,]+ of [\d,]+\), [\d.]+\s% to [\d.]+\s%/);
  await page.emulateMedia({media: "print"});
  assert.ok(!(await page.locator(".explorer").isVisible()), "the slider is printed");
  assert.deepEqual(messages, []);
  await page.close();
});
