/** Express with express-openapi-validator, as its README shows: checks requests, responses and bearer tokens. */
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import { keeper } from './keep.ts';

const keep = keeper();
const credentials = `Bearer ${process.env.ACCESS_TOKENS}`;

const failed: ErrorRequestHandler = (error, _req, res, _next) => {
  res.status(error.status || 500).json({ error: error.status || 500, message: error.message });
};

express()
  .use(express.json())
  .use(
    middleware({
      apiSpec: String(process.env.OPENAPI_FILE),
      validateRequests: true,
      validateResponses: true,
      validateSecurity: { handlers: { bearerAuth: (req) => req.headers.authorization === credentials } },
    }),
  )
  .post('/plants', (req, res) => {
    const { id, name, tag } = req.body;
    keep({ id, name, tag });
    res.json({ name, tag });
  })
  .use(failed)
  .listen(Number(process.env.PORT), '127.0.0.1');
