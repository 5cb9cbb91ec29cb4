import { sample } from 'openapi-sampler';
import { type Document, follow, isObject, type Json, objectAt } from './contract/document.ts';
import { type DeclaredResponse, declaredFor, type MediaType, type Operation } from './contract/operation.ts';
import { Failure } from './failure.ts';
import type { AnyHandler } from './operations.ts';

/** Marks an answer that no handler made. */
export const MOCK_HEADER = 'X-Mock';

/**
 * A handler that answers with what the document shows: an example of the response, or a value made from its schema. The
 * client may choose another declared response with `Prefer: code=404`, and a named example with `Prefer: example=name`
 * (RFC 7240).
 */
export function mock({ root }: Document, operation: Operation): AnyHandler {
  return ({ headers, accepts }) => {
    const preferred = preferences(headers.prefer);
    const status = Number(preferred.get('code') ?? firstStatus(operation));
    const response = declaredFor(operation, status);
    if (response === undefined || !Number.isInteger(status) || status < 200 || status > 599) {
      const keys = operation.responses.map(({ key }) => key).join(', ');
      throw new Failure(400, `/header/Prefer code must be one of the declared responses: ${keys}`);
    }
    const type = response.media.length > 1 ? accepts(...response.media.map((media) => media.type)) : undefined;
    const media = response.media.find((candidate) => candidate.type === type) ?? response.media[0];
    return {
      status,
      headers: {
        ...sampleHeaders(root, response),
        [MOCK_HEADER]: 'true',
        ...(preferred.size > 0 && { 'Preference-Applied': [...preferred].map((pair) => pair.join('=')).join(', ') }),
      },
      ...(media !== undefined && { contentType: media.type, body: sampleBody(root, media, preferred.get('example')) }),
    };
  };
}

function preferences(header: string | string[] | undefined): Map<string, string> {
  const known = String(header ?? '').matchAll(/(?:^|[,;\s])(code|example)\s*=\s*"?([^\s",;]+)"?/g);
  return new Map([...known].map(([, name = '', value = '']) => [name, value]));
}

/** The status of the first success declared, or of the first response. */
function firstStatus({ responses }: Operation): number {
  const key = (responses.find((response) => /^2/.test(response.key)) ?? responses[0])?.key ?? '200';
  return key === 'default' ? 200 : Number(key.replace(/XX$/i, '00'));
}

function sampleBody(root: Json, media: MediaType, name: string | undefined): unknown {
  const examples = objectAt(media.source.examples);
  const example = follow(root, name === undefined ? Object.values(examples)[0] : examples[name]);
  if (example?.value !== undefined) return example.value;
  if (media.source.example !== undefined) return media.source.example;
  const value = sampleOf(root, media.schema);
  return media.kind === 'json' || typeof value === 'string' ? value : '';
}

function sampleHeaders(root: Json, { headers }: DeclaredResponse): Json {
  return Object.fromEntries(
    headers.filter(({ required }) => required).map(({ name, schema }) => [name, sampleOf(root, schema)]),
  );
}

const sampleOf = (root: Json, schema: unknown): unknown =>
  isObject(schema) ? sample(schema, { skipWriteOnly: true, quiet: true }, root) : {};
