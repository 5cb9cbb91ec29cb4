import type { Codecs } from '../codecs/codecs.ts';
import { bodyLimitOf } from '../operations/body-limit.ts';
import { deprecationOf } from '../operations/deprecation.ts';
import type { Document } from '../operations/load.ts';
import type { MediaType } from '../operations/media.ts';
import type { Operation } from '../operations/operations.ts';
import { hasTooManyUrls, MAX_URLS } from '../operations/servers.ts';
import type { SchemaTree } from '../schema/tree.ts';
import {
  asArray,
  entriesOf,
  escapePointerToken,
  type Json,
  resolveRef,
  valueAt,
} from '../source/document.ts';
import { essenceOf, isRange } from '../source/media-types.ts';
import type { Report } from './check-structure.ts';

/**
 * Reports operations with the same id, and parts of the document that are not
 * served or not checked.
 */
export function checkOperations(document: Document, codecs: Codecs, report: Report): void {
  const { operations } = document;
  const { tree } = document.schemas;
  const operationsById = Map.groupBy(
    operations,
    ({ source, pointer }) => source.operationId ?? pointer,
  );
  for (const [first, ...others] of operationsById.values()) {
    for (const { pointer, source, id } of others) {
      const firstUse = `${first?.method} ${first?.path}`;
      const message = `operationId ${source.operationId} is already used by ${firstUse}`;
      report.notice(`${pointer}/operationId`, `${message}: this operation is renamed to ${id}`);
    }
  }
  if (hasTooManyUrls(document.root.servers))
    report.notice('/servers', `only the first ${MAX_URLS} URLs of a server are served`);
  const reportedTypes = new Set<string>();
  for (const operation of operations) {
    if (/[?#]/.test(operation.path)) {
      report.notice(
        operation.pointer,
        'a path cannot contain ? or #: declare query parameters instead',
      );
    }
    for (const [name, message] of Object.entries(deprecationOf(operation).violations))
      report.notice(`${operation.pointer}/${name}`, `${name} is ignored: it ${message}`);
    checkDeclared(document, operation, report);
    checkMergePatch(tree, operation, report);
    checkBodies(operation, codecs, reportedTypes, report);
  }
}

/**
 * Reports path parameters that the path does not have or has several times, and undeclared security
 * schemes.
 */
function checkDeclared(
  { root, securitySchemes }: Document,
  { path, template, pointer, security }: Operation,
  { problem, notice }: Report,
): void {
  for (const listPointer of [
    `/paths/${escapePointerToken(path)}/parameters`,
    `${pointer}/parameters`,
  ]) {
    for (const [index, value] of asArray(valueAt(root, listPointer)).entries()) {
      const { in: where, name } = resolveRef(root, value) ?? {};
      if (where !== 'path' || template.names.includes(String(name))) continue;
      notice(
        `${listPointer}/${index}`,
        `path parameter ${name} is not in the path ${path}: it is ignored`,
      );
    }
  }
  const { names } = template;
  for (const name of new Set(names.filter((item, index) => names.indexOf(item) < index)))
    notice(pointer, `{${name}} is in the path ${path} several times: only the first value is used`);
  for (const name of security.flatMap(Object.keys)) {
    if (!Object.hasOwn(securitySchemes, name))
      problem(pointer, `security scheme ${name} is not in components.securitySchemes`);
  }
}

/** Reports missing responses, bodies that are not checked, and invalid limits of their size. */
function checkBodies(
  { id, pointer, requestBody, responses }: Operation,
  codecs: Codecs,
  reportedTypes: Set<string>,
  { problem, notice }: Report,
): void {
  if (responses.length === 0) {
    notice(
      pointer,
      `operation ${id} declares no response: its handler may use any status, without a body`,
    );
  }
  const received = requestBody?.media ?? [];
  for (const media of received) {
    try {
      bodyLimitOf(media, codecs.factsOf(media), 0);
    } catch (error) {
      problem(`${media.pointer}/x-body-limit`, `x-body-limit must be ${Object(error).message}`);
    }
  }
  const sent = responses.flatMap(({ media }) => media);
  for (const media of received.filter(isPlainEvents))
    notice(media.pointer, `events are read as plain bytes. ${USE_ITEMS}`);
  for (const media of sent.filter(isPlainEvents)) {
    const limits = 'without heartbeats, cut after 60 s of silence, and not ended at a stop';
    notice(media.pointer, `events are sent as plain bytes: ${limits}. ${USE_ITEMS}`);
  }
  const unchecked = [
    ...received.filter((media) => !['value', 'form', 'parts'].includes(codecs.factsOf(media).unit)),
    ...sent.filter((media) => codecs.factsOf(media).unit !== 'value' && !isRange(media.type)),
  ];
  for (const { outline, type, pointer: mediaPointer } of unchecked) {
    if (!outline.restrictsBytes || reportedTypes.has(type)) continue;
    reportedTypes.add(type);
    notice(
      mediaPointer,
      `bodies of ${type} are not checked against their schema, only against the media type`,
    );
  }
}

/** Reports properties that a merge patch resets although the client omits them (RFC 7396). */
function checkMergePatch(tree: SchemaTree, { requestBody }: Operation, { notice }: Report): void {
  for (const { type, schema, pointer } of requestBody?.media ?? []) {
    if (essenceOf(type) !== 'application/merge-patch+json') continue;
    for (const name of new Set(namesWithDefault(tree, tree.schemaOf(schema)))) {
      const effect = 'is added to each merge patch without it, which resets the value';
      notice(pointer, `the default of ${name} ${effect}: use a schema without this default`);
    }
  }
}

/** Lists properties with a default, such as `address.city`. Patches replace arrays as a whole. */
function namesWithDefault(
  tree: SchemaTree,
  schema: Json,
  prefix = '',
  visited = new Set<unknown>(),
): string[] {
  const parts = tree.possible(schema).filter((part) => !visited.has(part));
  for (const part of parts) visited.add(part);
  const properties = parts.flatMap((part) => entriesOf(part.properties));
  return properties.flatMap(([name, property]) => {
    const inner = tree.schemaOf(property);
    if (tree.isOneWay(inner, 'request')) return [];
    const path = prefix + name;
    const names = namesWithDefault(tree, inner, `${path}.`, visited);
    return tree.facts(inner).default ? [path, ...names] : names;
  });
}

const USE_ITEMS = 'Use itemSchema (OpenAPI 3.2)';

const isPlainEvents = ({ type, items }: MediaType): boolean =>
  essenceOf(type) === 'text/event-stream' && items === undefined;
