import { asArray, asObject, escapePointerToken, type Json, resolveRef, valueAt } from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { type Document, lacksScheme } from '../document/load.ts';
import type { Operation } from '../document/operations.ts';
import { pathTemplate } from '../document/path-template.ts';
import type { Report } from './check-structure.ts';

/** Says which operations have the name or the URL of another one, and what of them is not served or not checked. */
export function checkOperations(document: Document, report: Report): void {
  const { root, operations } = document;
  checkServers(root, report);
  checkObjects(root, report);
  const names = Map.groupBy(operations, ({ source, pointer }) => source.operationId ?? pointer);
  for (const [first, ...others] of names.values()) {
    for (const { pointer, source, id } of others) {
      const owner = `${first?.method} ${first?.path}`;
      const message = `operationId ${source.operationId} is also that of ${owner}: this one is ${id}`;
      report.notice(`${pointer}/operationId`, message);
    }
  }
  // The names of path parameters do not distinguish URLs.
  const urls = Map.groupBy(operations, ({ method, template }) => `${method} ${template.shape}`);
  for (const [first, ...others] of urls.values()) {
    for (const { pointer, method, path } of others) {
      report.notice(pointer, `${method} ${path} has the same URL as ${first?.method} ${first?.path}, which is served`);
    }
  }
  const types = new Set<string>();
  for (const operation of operations) {
    if (!operation.template.isReachable) {
      report.notice(operation.pointer, 'no request reaches a path with ? or #: declare query parameters instead');
    }
    checkDeclared(document, operation, report);
    checkBodies(operation, types, report);
  }
}

/** Checks that the variables of each server URL are declared. */
function checkServers(root: Json, { problem, notice }: Report): void {
  for (const [index, server] of asArray(root.servers).entries()) {
    const { url, variables } = asObject(server);
    if (lacksScheme(String(url))) notice(`/servers/${index}/url`, `${url} has no scheme: it is read as http://${url}`);
    for (const name of pathTemplate(String(url)).names) {
      if (asObject(variables)[name] !== undefined) continue;
      problem(`/servers/${index}/url`, `the variable {${name}} is not declared in variables`);
    }
  }
}

/** Checks that the path has the parameters that are declared for it, and `components` the security schemes. */
function checkDeclared(
  { root, securitySchemes }: Document,
  { path, template, pointer, security }: Operation,
  { problem, notice }: Report,
): void {
  for (const at of [`/paths/${escapePointerToken(path)}/parameters`, `${pointer}/parameters`]) {
    for (const [index, value] of asArray(valueAt(root, at)).entries()) {
      const { in: where, name } = resolveRef(root, value) ?? {};
      if (where !== 'path' || template.names.includes(String(name))) continue;
      notice(`${at}/${index}`, `path parameter ${name} is not in the path ${path}: it is ignored`);
    }
  }
  for (const name of security.flatMap((all) => Object.keys(asObject(all)))) {
    if (!securitySchemes[name]) problem(pointer, `security scheme ${name} is not in components.securitySchemes`);
  }
}

/** @param types media types whose bodies are not checked, each of which is reported once. */
function checkBodies(
  { id, pointer, requestBody, responses }: Operation,
  types: Set<string>,
  { problem, notice }: Report,
): void {
  if (responses.length === 0) {
    notice(pointer, `operation ${id} declares no response: its handler answers with any status, without a body`);
  }
  const received = requestBody?.media ?? [];
  const sent = responses.flatMap(({ media }) => media);
  for (const { type, pointer: at } of [...received, ...sent].filter((media) => /[^ -~]/.test(media.type))) {
    problem(at, `${type} is not a media type: it holds a character that no header can have (RFC 9110 §8.3.1)`);
  }
  const unchecked = [
    ...received.filter(({ kind }) => kind === 'stream'),
    ...sent.filter(({ kind, type }) => !['json', 'text'].includes(kind) && !type.includes('*')),
  ];
  for (const media of unchecked.filter(({ constrained, type }) => constrained && !types.has(type))) {
    types.add(media.type);
    notice(media.pointer, `bodies of ${media.type} are not checked against their schema, only their media type is`);
  }
}

/** What the official schema of OpenAPI does not tell. */
function checkObjects(root: Json, { notice }: Report): void {
  walk(root, 'document', '', (object, kind, at) => {
    const { body, example, examples, servers } = object;
    if (kind === 'link' && body !== undefined) notice(`${at}/body`, 'a link has no body: name it requestBody');
    const isShown = kind === 'parameter' || kind === 'header' || kind === 'mediaType';
    if (isShown && example !== undefined && examples !== undefined) {
      notice(`${at}/example`, 'example and examples exclude each other: examples come first');
    }
    const isServed = (kind === 'pathItem' || kind === 'operation') && !/^\/webhooks|\/callbacks\//.test(at);
    if (!isServed || asArray(servers).length === 0) return;
    const message = 'servers of a path or an operation are ignored: only those at the top of the document are served';
    notice(`${at}/servers`, message);
  });
}
