/** Examples of a request: for curl, and for the clients in Python and JavaScript, or without them. */

import { clientSample, literal } from "./docs-clients.js";

export const LANGUAGES = ["curl", "Python", "JavaScript"];
const JSON_TYPE = "application/json";
const FORM = "multipart/form-data";

/** The texts of the examples of an operation, in the order of `LANGUAGES`. */
export function samples(path, method, operation, base) {
  const asked = request(path, method, operation, base);
  const own = (language) => clientSample(language, operation.operationId, asked);
  return [curl(asked), own("Python") ?? python(asked), own("JavaScript") ?? javascript(asked)];
}

/** What is asked in the example: its address, body, all values in them, and whether it needs the token. */
function request(path, method, operation, base) {
  const query = new URLSearchParams();
  const values = {};
  let address = path;
  for (const { name, in: place, example } of operation.parameters ?? []) {
    if (example === undefined) continue;
    values[name] = example;
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(example));
    else if (place === "query") for (const value of [example].flat()) query.append(name, value);
  }
  const content = operation.requestBody?.content ?? {};
  const body = content[JSON_TYPE]?.example;
  const needsToken = !operation.security?.some((one) => Object.keys(one).length === 0);
  const answers = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1].content ?? {};
  const gives = Object.keys(answers)[0] ?? "";
  const search = query.size ? `?${query}` : "";
  const form = body === undefined && FORM in content;
  Object.assign(values, body);
  return { server: base, address: base + address + search, method: method.toUpperCase(), body, form, needsToken, gives, values };
}

/** The part of a file's name that tells what an answer is. */
function fileOf(gives) {
  const kind = { "image/jpeg": "jpg", "image/webp": "webp" }[gives];
  return kind ? `item.${kind}` : "answer.bin";
}

const isText = (gives) => gives === "" || gives.includes("json") || gives.startsWith("text/");
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ address, method, body, form, needsToken, gives }) {
  const parts = [`curl ${shell(address)}`];
  if (method !== "GET" && !(method === "POST" && (form || body !== undefined))) parts.push(`-X ${method}`);
  if (needsToken) parts.push('-H "Authorization: Bearer $ZSHASH_TOKEN"');
  if (form) parts.push("-F picture=@holiday.jpg");
  if (body !== undefined) parts.push(`--json ${shell(JSON.stringify(body))}`);
  if (!isText(gives)) parts.push(`-o ${fileOf(gives)}`);
  return parts.join(" \\\n  ");
}

function python({ address, method, body, form, needsToken, gives }) {
  const options = [JSON.stringify(address)];
  if (needsToken) options.push('headers={"Authorization": f"Bearer {os.environ[\'ZSHASH_TOKEN\']}"}');
  if (form) options.push('files={"picture": open("holiday.jpg", "rb")}');
  if (body !== undefined) options.push(`json=${literal(body)}`);
  const call = `requests.${method.toLowerCase()}`;
  const inner = options.length > 1 ? `\n    ${options.join(",\n    ")},\n` : options[0];
  const head = needsToken ? ["import os", "", "import requests"] : ["import requests"];
  return [...head, "", `answer = ${call}(${inner})`, "answer.raise_for_status()", ...pythonEnd(gives)].join("\n");
}

function pythonEnd(gives) {
  if (gives === "") return [];
  if (gives.includes("json")) return ["print(answer.json())"];
  if (isText(gives)) return ["print(answer.text)"];
  return [`open("${fileOf(gives)}", "wb").write(answer.content)`];
}

function javascript({ address, method, body, form, needsToken, gives }) {
  const lines = [];
  const headers = [];
  if (needsToken) headers.push("Authorization: `Bearer ${token}`");
  if (body !== undefined) headers.push(`"Content-Type": "${JSON_TYPE}"`);
  if (form) lines.push("const form = new FormData();", 'form.append("picture", file);');
  const options = [];
  if (method !== "GET") options.push(`method: "${method}"`);
  if (headers.length) options.push(`headers: { ${headers.join(", ")} }`);
  if (form) options.push("body: form");
  if (body !== undefined) options.push(`body: JSON.stringify(${JSON.stringify(body)})`);
  const inner = options.length ? `, {\n  ${options.join(",\n  ")},\n}` : "";
  lines.push(`const answer = await fetch(${JSON.stringify(address)}${inner});`);
  lines.push("if (!answer.ok) throw new Error((await answer.json()).detail);");
  if (gives.includes("json")) lines.push("console.log(await answer.json());");
  else if (gives !== "") lines.push(`const content = await answer.${isText(gives) ? "text" : "blob"}();`);
  return lines.join("\n");
}
