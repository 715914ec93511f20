// The site of make site in Chromium: every link leads somewhere, nothing comes from another host, no page scrolls sideways on a phone,
// the dark scheme is dark, and the search finds what a page says.
import assert from "node:assert/strict";
import {createReadStream, existsSync, mkdirSync, statSync} from "node:fs";
import {createServer} from "node:http";
import {extname, join, normalize} from "node:path";
import {after, before, test} from "node:test";
import {chromium} from "playwright-core";

const site = process.env.SITE, out = join(import.meta.dirname, "out");
const types = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json"};
let server, browser, origin;
const found = new Map(); // path of a page: its links

before(async () => {
  mkdirSync(out, {recursive: true});
  server = createServer((request, response) => {
    let file = join(site, normalize(decodeURIComponent(new URL(request.url, "http://site").pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, {"Content-Type": types[extname(file)] ?? "application/octet-stream"});
    createReadStream(file).pipe(response);
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"]});
});

after(async () => {
  await browser?.close();
  server?.close();
});

test("every page: links, other hosts, a phone", async () => {
  const page = await browser.newPage({viewport: {width: 360, height: 800}});
  const others = new Set(), wide = [];
  page.on("request", r => r.url().startsWith(origin) || r.url().startsWith("data:") || r.url().startsWith("blob:") || others.add(r.url()));
  const queue = ["/index.html"];
  while (queue.length > 0) {
    const path = queue.shift();
    if (found.has(path)) continue;
    const response = await page.goto(origin + path, {waitUntil: "load"});
    assert.equal(response.status(), 200, path);
    const [links, width] = await page.evaluate(() => [[...document.querySelectorAll("a[href]")].map(a => a.href),
      document.documentElement.scrollWidth]);
    if (width > 360) wide.push(`${path}: ${width} px`);
    found.set(path, links);
    for (const link of links) {
      const {origin: from, pathname} = new URL(link);
      if (from === origin && pathname.endsWith(".html") && !found.has(pathname)) queue.push(pathname);
    }
  }
  assert.ok(found.size >= 60, `${found.size} pages`);
  assert.deepEqual([...others], [], "requests to other hosts");
  assert.deepEqual(wide, [], "pages that scroll sideways at 360 px");
  const files = new Set([...found.values()].flat().map(l => new URL(l)).filter(u => u.origin === origin).map(u => u.pathname));
  for (const path of files) assert.equal((await fetch(origin + path)).status, 200, path);
  console.log(`${found.size} pages, ${files.size} files behind links`);
  await page.close();
});

for (const [name, scheme, width] of [["light", "light", 1300], ["dark", "dark", 1300], ["phone", "dark", 360]]) {
  test(`the ${name} scheme`, async () => {
    const page = await browser.newPage({viewport: {width, height: 1400}, colorScheme: scheme});
    for (const path of ["index.html", "docs/guide/python.html", "docs/guide/guarantees.html", "docs/results/quality.html", "docs/reference/cli.html"]) {
      await page.goto(`${origin}/${path}`, {waitUntil: "load"});
      const light = await page.evaluate(() => {
        const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
        return r + g + b > 3 * 128;
      });
      assert.equal(light, scheme === "light", `${path}: the background`);
      await page.screenshot({path: join(out, `site-${name}-${path.replaceAll("/", "-").replace(".html", "")}.png`)});
    }
    await page.close();
  });
}

test("the search finds what a page says", async () => {
  const page = await browser.newPage();
  await page.goto(`${origin}/index.html`, {waitUntil: "load"});
  await page.click(".md-search__input");
  await page.keyboard.type("too few rows for the guarantee");
  await page.waitForFunction(() => [...document.querySelectorAll(".md-search-result__item a")].some(a => a.href.includes("guide/guarantees")));
  await page.close();
});

for (const query of ["threshold", "sklearn", "random_state", "guarantee"]) {
  test(`the search for ${query} has the guide first`, async () => {
    const page = await browser.newPage();
    await page.goto(`${origin}/index.html`, {waitUntil: "load"});
    await page.click(".md-search__input");
    await page.keyboard.type(query);
    await page.waitForSelector(".md-search-result__item a");
    await page.waitForTimeout(1000); // results follow each letter
    assert.match(await page.getAttribute(".md-search-result__item a", "href"), /docs\/guide\//);
    await page.close();
  });
}

test("the page of the command line on a phone is short, and its flags unfold", async () => {
  const page = await browser.newPage({viewport: {width: 390, height: 844}});
  await page.goto(`${origin}/docs/reference/cli.html`, {waitUntil: "load"});
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height < 20000, `${height} px`);
  assert.doesNotMatch((await page.innerText("article")).slice(0, 300), /go test/);
  await page.locator("details.flags summary").first().click();
  assert.ok(await page.locator("details.flags[open] code").first().isVisible());
  await page.screenshot({path: join(out, "site-phone-cli.png")});
  await page.close();
});
