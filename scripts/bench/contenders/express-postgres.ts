/**
 * Express alone on PostgreSQL: one INSERT and one commit per request, over as many connections as the service opens by
 * default. Like the service it keeps a repeated plant once; unlike the service it fails for names beyond 2,700 bytes,
 * which do not fit into the index.
 */
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 4 });
await pool.query(
  'CREATE TABLE plants (id bigint NOT NULL, name text NOT NULL, tag text, UNIQUE NULLS NOT DISTINCT (id, name, tag))',
);

express()
  .use(express.json())
  .post('/plants', async (req, res) => {
    const { id, name, tag } = req.body;
    await pool.query({
      name: 'insert',
      text: 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      values: [id, name, tag ?? null],
    });
    res.json({ name, tag });
  })
  .listen(Number(process.env.PORT), '127.0.0.1');
