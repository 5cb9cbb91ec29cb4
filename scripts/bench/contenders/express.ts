/**
 * Express without validation; with the variable `EOV`, with express-openapi-validator as in its
 * README.
 */
import express from 'express';
import { middleware } from 'express-openapi-validator';
import { openStore } from './store.ts';

const { PORT, ACCESS_TOKENS, OPENAPI_FILE = '', EOV } = process.env;
const store = openStore();
const app = express().use(express.json());
if (EOV !== undefined) {
  const bearerAuth = (req: express.Request) =>
    req.headers.authorization === `Bearer ${ACCESS_TOKENS}`;
  app.use(
    middleware({
      apiSpec: OPENAPI_FILE,
      validateResponses: true,
      validateSecurity: { handlers: { bearerAuth } },
    }),
  );
}
app.post('/plants', (req, res) => {
  const { id, name, tag } = req.body;
  store({ id, name, tag });
  res.json({ name, tag });
});
app.listen(Number(PORT), '127.0.0.1');
