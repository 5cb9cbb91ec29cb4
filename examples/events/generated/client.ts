/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import { type Client, type ClientOptions, clientOf, type Route } from 'openapi-document/client';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** @see openapi.yaml:38 */
export type NewMessage = {
    /** @maxLength 500 */
    text: string;
};
/** @see openapi.yaml:42 */
export type Message = {
    /** @maxLength 500 */
    text: string;
    id: number;
};
export interface paths {
    "/messages": {
        get: operations["watchMessages"];
        post: operations["postMessage"];
    };
}
export interface components {
    schemas: {
        NewMessage: NewMessage;
        Message: Message;
    };
}
export interface operations {
    /**
     * Get the messages after Last-Event-ID, then each new one
     * @see openapi.yaml:17
     */
    watchMessages: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @minimum 0
                 * @default 0
                 */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The messages, in order. The stream has no end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": AsyncIterable<{
                        /** @pattern ^[0-9]+$ */
                        id: string;
                        data: Message;
                    }>;
                };
            };
        };
    };
    /**
     * Send a message to all watching clients
     * @see openapi.yaml:5
     */
    postMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewMessage;
            };
        };
        responses: {
            /** The message was sent. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Message;
                };
            };
        };
    };
}
export interface webhooks {}

const routes: { readonly [Id in keyof operations]: Route } = {
  "watchMessages": {
    "method": "GET",
    "path": "/messages",
    "parameters": [
      {
        "in": "header",
        "name": "Last-Event-ID",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false,
        "mustBeSent": true
      }
    ],
    "media": [],
    "responses": [
      {
        "key": "200",
        "media": [
          {
            "type": "text/event-stream",
            "items": {
              "data": "json"
            }
          }
        ]
      }
    ],
    "int64": true
  },
  "postMessage": {
    "method": "POST",
    "path": "/messages",
    "parameters": [],
    "media": [
      {
        "type": "application/json"
      }
    ],
    "responses": []
  }
};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> =>
    clientOf<operations>(routes, options);
