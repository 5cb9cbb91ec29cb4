import type { Operation } from 'openapi-document';
import { Fault } from './check-answer.ts';
import type { Client } from './client.ts';
import { requestsOf } from './requests.ts';
import type { Finding } from './test-operation.ts';
import type { Context } from './values.ts';
import { curlLine, writeRequest } from './write-request.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Calls a path with each method that it lacks.
 *
 * @param context the first operation of the path: its parameters make the path.
 * @param declared the methods of the path, in lower case.
 */
export async function testMethods(
  context: Context,
  client: Client,
  declared: readonly string[],
  operations: readonly Operation[],
  seed: number,
): Promise<Finding[]> {
  const { operation, secrets } = context;
  const inPath = operation.parameters.filter(({ in: where }) => where === 'path');
  const bare = { ...operation, parameters: inPath, requestBody: undefined };
  const [made] = requestsOf({ ...context, operation: bare }, seed).valid(1);
  if (made === undefined) return [];
  const target = await writeRequest(bare, made, secrets);
  const findings: Finding[] = [];
  // Another path template of the document may match the same path.
  const [path = ''] = target.target.split('?');
  const served = new Set(operations.filter((other) => isPathOf(other, path)).map(({ method }) => method));
  for (const method of METHODS.filter((name) => !declared.includes(name) && !served.has(name))) {
    const sent = { ...target, method: method.toUpperCase() };
    const answer = await client.send(sent);
    const allowed = (answer.headers.allow ?? '').toLowerCase().split(/\s*,\s*/);
    const missing = declared.filter((name) => !allowed.includes(name));
    const message =
      answer.status !== 405
        ? `the status ${answer.status} answers ${sent.method}, which the path lacks, not 405`
        : answer.headers.allow === undefined
          ? `the answer 405 to ${sent.method} has no header Allow`
          : missing.length > 0
            ? `Allow says "${answer.headers.allow}" and leaves out ${missing.join(', ').toUpperCase()}`
            : undefined;
    if (message === undefined) continue;
    const fault = new Fault('a method that the path lacks is answered with 405 and Allow', message, answer);
    findings.push({ fault, curl: curlLine(client.base, sent) });
    break;
  }
  return findings;
}

const isPathOf = ({ template }: Operation, path: string): boolean =>
  template.segments.length === path.split('/').length && template.match(path) !== undefined;
