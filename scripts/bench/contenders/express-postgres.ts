/** Express alone, with a statement for each request over as many connections as the service has by default. */
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 4 });
await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');

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
