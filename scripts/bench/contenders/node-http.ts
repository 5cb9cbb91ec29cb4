/**
 * The HTTP server of Node, with minimal work for the same request. Shows the limit of the load
 * generator.
 */
import { createServer } from 'node:http';

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const { name, tag } = JSON.parse(body);
    const answer = JSON.stringify({ name, tag });
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
