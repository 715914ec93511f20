// The example of a page that scores: opened from the disk with the reader, and beside it on a place with static files.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {pathToFileURL} from "node:url";
import {chromium} from "playwright-core";

const root = process.env.ROOT;
const page = join(root, "docs/examples/score.html"), reader = join(root, "js/toptau.mjs"), file = join(root, "model/testdata/complete.json");

test("the page scores as the reader does", async () => {
  const {Model} = await import(pathToFileURL(reader));
  const want = Model.load(file).then(m => m.score({bytes: "7.5", service: "http", zero: "0"}));
  const server = createServer((request, response) => {
    const script = request.url.endsWith(".mjs");
    response.writeHead(200, {"Content-Type": script ? "text/javascript" : "text/html"}).end(readFileSync(script ? reader : page));
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"]});
  try {
    for (const [address, files] of [[pathToFileURL(page).href, [file, reader]], [`http://127.0.0.1:${server.address().port}/`, [file]]]) {
      const tab = await browser.newPage();
      await tab.goto(address);
      await tab.setInputFiles("#files", files);
      await tab.fill("input[name=bytes]", "7.5");
      await tab.fill("input[name=service]", "http");
      await tab.fill("input[name=zero]", "0");
      assert.equal(await tab.textContent("#answer"), `Score ${await want}, above the threshold`.replace((await want) > 0.1 ? "" : ", above the threshold", ""));
      assert.deepEqual((await tab.$$eval("#reasons tr td:first-child", list => list.map(c => c.textContent))).sort(), ["bytes", "service"]);
      await tab.fill("input[name=bytes]", "many");
      assert.equal(await tab.textContent("#answer"), "column \"bytes\": \"many\", expected a number");
      await tab.close();
    }
  } finally {
    await browser.close();
    server.close();
  }
});
