/** JSON schemas in words and as tables. */

import { make, prose } from "./docs-dom.js";

const DEPTH = 4; // tables in tables

/** The schema that a reference stands for. */
export function resolved(schema, components) {
  const name = schema?.$ref?.split("/").at(-1);
  return name ? (components[name] ?? {}) : (schema ?? {});
}

/** A type in a few words, such as "list of integers" or "text or null". */
export function typeOf(schema, components) {
  const own = resolved(schema, components);
  const several = own.anyOf ?? own.oneOf;
  if (several) return [...new Set(several.map((one) => typeOf(one, components)))].join(" or ");
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.enum) return own.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (own.type === "array") return `list of ${typeOf(own.items ?? {}, components)}`;
  if (own.format === "binary") return "bytes";
  if (own.type === "object" && !own.properties && own.additionalProperties?.type) {
    return `object of ${typeOf(own.additionalProperties, components)}`;
  }
  return { string: "text" }[own.type] ?? own.type ?? "anything";
}

/** What a schema allows, in words: limits, a default. */
export function limitsOf(schema, components) {
  const own = resolved(schema, components);
  const parts = [];
  const inner = (own.anyOf ?? []).find((one) => one.type !== "null") ?? own;
  const all = { ...inner, ...own };
  if (all.minimum !== undefined) parts.push(`at least ${all.minimum}`);
  if (all.maximum !== undefined) parts.push(all.maximum > 2 ** 53 ? null : `at most ${all.maximum}`);
  if (all.maxLength) parts.push(`at most ${all.maxLength} letters`);
  if (all.maxItems) parts.push(`at most ${all.maxItems} of them`);
  if (all.default !== undefined && all.default !== null && String(all.default) !== "") {
    parts.push(`default: ${JSON.stringify(all.default)}`);
  }
  return parts.filter(Boolean).join(", ");
}

/** A table of the fields of a schema, with those of its parts in tables of their own; null if it has none. */
export function fields(schema, components, depth = 0, seen = []) {
  const own = resolved(schema, components);
  const part = (own.anyOf ?? own.oneOf)?.map((one) => resolved(one, components)).find((one) => one.properties);
  const object = own.type === "array" ? resolved(own.items, components) : (part ?? own);
  if (!object.properties || depth > DEPTH || seen.includes(object)) return null;
  const list = make("dl", { class: "fields" });
  for (const [name, property] of Object.entries(object.properties)) {
    const required = object.required?.includes(name) ? "" : "optional";
    list.append(...field(name, property, { required, components }));
    const more = fields(property, components, depth + 1, [...seen, object]);
    if (more) list.lastChild.append(make("details", {}, [make("summary", {}, ["Fields"]), more]));
  }
  return list;
}

/** A name, its type and what is to know about it, as the parts of a definition list. */
export function field(name, schema, { required, components, text = schema.description, example }) {
  const type = required === "" ? typeOf(schema, components).replace(/ or null$/, "") : typeOf(schema, components);
  const facts = [type, limitsOf(schema, components), required].filter(Boolean);
  const about = make("dd", {}, text ? prose(text) : []);
  if (example !== undefined) about.append(make("p", { class: "note" }, ["Example: ", make("code", {}, [JSON.stringify(example)])]));
  return [make("dt", {}, [make("code", {}, [name]), make("span", {}, [facts.join(" · ")])]), about];
}
