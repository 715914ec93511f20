#!/usr/bin/env node
// Starts the program of this platform. It is in a package of its own, which npm installs as an optional dependency of the package toptau.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const platform = `${process.platform}-${process.arch}`;
const name = `@toptau/${platform}`;
const require = createRequire(import.meta.url);

function fail(message) {
  process.stderr.write(`toptau: ${message}\n`);
  process.exit(1);
}

/** Returns the path of the program. */
function program() {
  const known = Object.keys(require("./package.json").optionalDependencies);
  if (!known.includes(name)) {
    const list = known.map((n) => n.replace("@toptau/", "")).join(", ");
    fail(`npm has no program for ${platform}, only for ${list} (build it from source with Go)`);
  }
  try {
    return require.resolve(`${name}/bin/toptau${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    fail(`the package ${name} with the program is not installed. npm leaves it out with --omit=optional and --no-optional, ` +
      `and with node_modules or a lock file of another system (npm install --include=optional toptau)`);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (e) => fail(`the program cannot be started: ${e.message}`));
// A terminal sends SIGINT to the program, too. The other signals reach this process alone.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const s of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(s);
  process.kill(process.pid, signal);
});
