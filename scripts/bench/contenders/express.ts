/** Express alone: parses JSON, stores the plant, answers. It checks neither tokens nor bodies. */
import express from 'express';
import { keeper } from './keep.ts';

const keep = keeper();

express()
  .use(express.json())
  .post('/plants', (req, res) => {
    const { id, name, tag } = req.body;
    keep({ id, name, tag });
    res.json({ name, tag });
  })
  .listen(Number(process.env.PORT), '127.0.0.1');
