// What both pages need: requests, elements, and the rules. Text is only ever set as text, never as HTML.

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** An answer as JSON (or as text); a Refused where the server has refused. */
export async function ask(method, path, body) {
  const options = { method, headers: {}, cache: "no-store" };
  if (method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
  const content = isJson ? await answer.json() : await answer.text();
  if (!answer.ok) {
    const error = isJson ? content.error : { code: "error", message: `the server answers ${answer.status}` };
    throw new Refused(answer.status, error.code, error.message);
  }
  return content;
}

export const find = (id) => document.getElementById(id);

/** A new element with attributes and children (texts or elements). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function complain(error) {
  const problem = find("problem");
  problem.textContent = error instanceof Refused ? error.message : "The server does not answer. Is it still running?";
  problem.hidden = false;
}

export function calm() {
  find("problem").hidden = true;
}

export const choices = (values, chosen) =>
  values.map((value) => {
    const option = make("option", { value }, String(value));
    option.selected = value === chosen;
    return option;
  });

/** Rules: "# " and "## " are headings, "- " items, all else paragraphs. `level` is that of the "## " headings. */
export function rulesOf(text, level) {
  const parts = [];
  let list = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("- ")) {
      if (list === null) parts.push((list = make("ul")));
      list.append(make("li", {}, line.slice(2)));
      continue;
    }
    if (line.trim()) list = null;
    if (line.startsWith("## ")) parts.push(make(`h${level}`, {}, line.slice(3)));
    else if (line.trim() && !line.startsWith("# ")) parts.push(make("p", {}, line));
  }
  return parts;
}
