// The plant store behind the middleware of express-openapi-validator: npm run start:eov
import type { AddressInfo } from 'node:net';
import { openStore } from '../../src/stores/index.ts';
import { createApp } from './app.ts';

const { ACCESS_TOKENS, DATABASE_URL, HOST = '127.0.0.1', PORT = '3000' } = process.env;
if (!ACCESS_TOKENS) throw new Error('ACCESS_TOKENS must be set, such as ACCESS_TOKENS=secret');
const store = await openStore(DATABASE_URL ?? 'sqlite:data/plants.db', { maxWaiting: 1_000 });
const server = createApp(store, ACCESS_TOKENS.split(',')).listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'listening', url: `http://${HOST}:${port}` }));
});
process.once('SIGTERM', () => server.close(() => void store.close()));
