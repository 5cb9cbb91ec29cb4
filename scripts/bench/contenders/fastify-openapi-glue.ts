/**
 * Fastify with fastify-openapi-glue as in its README: validates requests and bearer tokens. Fastify
 * serializes responses by their schemas without validation.
 */
import Fastify, { type FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { openStore, type Plant } from './store.ts';

const { PORT, ACCESS_TOKENS, OPENAPI_FILE } = process.env;
const store = openStore();
const credentials = `Bearer ${ACCESS_TOKENS}`;
// "strict: false" lets Ajv accept keywords of OpenAPI such as "example".
const fastify = Fastify({ ajv: { customOptions: { strict: false } } });
fastify.setErrorHandler<{ statusCode?: number; message: string }>(
  ({ statusCode = 500, message }, _request, reply) => {
    reply.code(statusCode).send({ error: statusCode, message });
  },
);
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
