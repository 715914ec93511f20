// The secret of this tab, and questions to the server.
const key = "toptau-session";

// start exchanges the token of the address for a secret. The address has none afterwards.
export async function start() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", location.pathname);
    const response = await fetch("/api/session", {method: "POST", body: JSON.stringify({token})});
    const answer = await response.json();
    if (response.ok) sessionStorage.setItem(key, answer.session);
    else if (!sessionStorage.getItem(key)) throw new Error(answer.error);
  }
}

// ask sends a question and returns the answer, or throws an error in words.
export async function ask(path, question = {}) {
  const response = await send(path, question);
  return response.json();
}

// download returns an answer that is a file.
export async function download(path) {
  const response = await send(path, {});
  return response.blob();
}

async function send(path, question) {
  let response;
  try {
    response = await fetch("/api/" + path, {method: "POST", headers: {"X-Toptau-Session": sessionStorage.getItem(key) ?? ""},
      body: JSON.stringify(question)});
  } catch {
    throw new Error("toptau does not answer. It has probably ended; start it again.");
  }
  if (!response.ok) {
    const answer = await response.json().catch(() => ({error: response.statusText}));
    throw new Error(answer.error);
  }
  return response;
}

// latest returns a function that asks at most one question at a time. While one is under way, only the last of the others is kept.
export function latest(action) {
  let running = false, waiting = null;
  return async function run(...args) {
    if (running) { waiting = args; return; }
    running = true;
    try {
      await action(...args);
    } finally {
      running = false;
      if (waiting) { const next = waiting; waiting = null; run(...next); }
    }
  };
}
