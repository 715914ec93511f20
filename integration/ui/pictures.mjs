// The pictures of README and guide: the report and the page of toptau ui, of the demo's data, in a light browser of fixed size.
import {execFileSync, spawn} from "node:child_process";
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {chromium} from "playwright-core";

const out = join(import.meta.dirname, "out"), toptau = join(out, "toptau"), demo = join(out, "demo"), pictures = process.env.PICTURES;
execFileSync(toptau, ["demo", "--dir", demo], {stdio: "ignore"});
mkdirSync(pictures, {recursive: true});
const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]});
const page = await browser.newPage({viewport: {width: 1040, height: 760}, colorScheme: "light"});
await page.goto(pathToFileURL(join(demo, "report.html")).href);
await page.screenshot({path: join(pictures, "report.png")});

const server = spawn(toptau, ["ui", "--json", "model.json", "later.csv"], {cwd: demo, stdio: ["ignore", "pipe", "inherit"]});
let text = "";
for await (const part of server.stdout) {
  text += part;
  if (text.includes("\n")) break;
}
await page.setViewportSize({width: 1240, height: 1010});
await page.goto(JSON.parse(text).address);
await page.waitForSelector("#budget-figures canvas");
await page.waitForTimeout(500);
await page.screenshot({path: join(pictures, "ui.png")});
server.kill("SIGINT");
await browser.close();
