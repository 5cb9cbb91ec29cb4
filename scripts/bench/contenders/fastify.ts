/**
 * Fastify with fastify-openapi-glue as in its README: validates requests and bearer tokens, and
 * serializes responses by their schemas without validation. With the variable `SAME_WORK`, it also
 * does the other work of this service: security headers, a line in the log for each request, and
 * validation of responses.
 */
import helmet from '@fastify/helmet';
import responseValidation from '@fastify/response-validation';
import Fastify, { type FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { destination } from 'pino';
import { openStore, type Plant } from './store.ts';

const { PORT, ACCESS_TOKENS, OPENAPI_FILE, SAME_WORK } = process.env;
const store = openStore();
const credentials = `Bearer ${ACCESS_TOKENS}`;
const stream = destination({ dest: 1, sync: false, minLength: 131_072, maxWrite: 262_144 });
const fastify = Fastify({
  // "strict: false" lets Ajv accept keywords of OpenAPI such as "example".
  ajv: { customOptions: { strict: false } },
  ...(SAME_WORK && { logger: { stream }, disableRequestLogging: true }),
});
fastify.setErrorHandler<{ statusCode?: number; message: string }>(
  ({ statusCode = 500, message }, _request, reply) => {
    reply.code(statusCode).send({ error: statusCode, message });
  },
);
if (SAME_WORK) {
  await fastify.register(helmet);
  await fastify.register(responseValidation, { ajv: { strict: false } });
  fastify.addHook('onResponse', async ({ id, ip, method, url, log }, { statusCode, elapsedTime }) =>
    log.info({ id, ip, method, url, status: statusCode, durationMs: elapsedTime }, 'responded'),
  );
}
await fastify.register(openapiGlue, {
  specification: String(OPENAPI_FILE),
  serviceHandlers: {
    async createPlant(request: FastifyRequest<{ Body: Plant }>) {
      const { id, name, tag } = request.body;
      store({ id, name, tag });
      return { name, tag };
    },
  },
  securityHandlers: {
    bearerAuth(request: FastifyRequest) {
      if (request.headers.authorization !== credentials) throw new Error('unauthorized');
    },
  },
});
await fastify.listen({ port: Number(PORT), host: '127.0.0.1' });
