/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

export type { Readable, Writable } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface paths {
    "/rooms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRooms"];
        put?: never;
        post: operations["createRoom"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rooms/{roomId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        get: operations["getRoom"];
        put: operations["updateRoom"];
        post?: never;
        delete: operations["deleteRoom"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rooms/{roomId}/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        get: operations["listBookings"];
        put?: never;
        post: operations["createBooking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/bookings/{bookingId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        get: operations["getBooking"];
        put: operations["moveBooking"];
        post?: never;
        delete: operations["cancelBooking"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        NewRoom: {
            name: string;
            beds: number;
            /** @default [] */
            amenities: ("wifi" | "desk" | "bath")[];
        };
        Room: components["schemas"]["NewRoom"] & components["schemas"]["Kept"];
        NewBooking: {
            /** Format: date */
            day: string;
            guest: string;
        };
        Booking: components["schemas"]["NewBooking"] & components["schemas"]["Kept"] & {
            roomId: number;
        };
        Kept: {
            id: number;
        };
    };
    responses: {
        /** @description The room. */
        Room: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Room"];
            };
        };
        /** @description The booking. */
        Booking: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Booking"];
            };
        };
        /** @description Why it is impossible. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    title?: string;
                };
            };
        };
    };
    parameters: {
        roomId: number;
    };
    requestBodies: {
        Room: {
            content: {
                "application/json": components["schemas"]["NewRoom"];
            };
        };
        Booking: {
            content: {
                "application/json": components["schemas"]["NewBooking"];
            };
        };
    };
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listRooms: {
        parameters: {
            query?: {
                /** @description At least so many. */
                beds?: number;
                amenities?: ("wifi" | "desk" | "bath")[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rooms, in the order of their ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Room"][];
                };
            };
        };
    };
    createRoom: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Room"];
        responses: {
            201: components["responses"]["Room"];
        };
    };
    getRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Room"];
            404: components["responses"]["Problem"];
        };
    };
    updateRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Room"];
        responses: {
            200: components["responses"]["Room"];
            404: components["responses"]["Problem"];
        };
    };
    deleteRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The room is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    listBookings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bookings of the room, in the order of their days. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Booking"][];
                };
            };
            404: components["responses"]["Problem"];
        };
    };
    createBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: components["parameters"]["roomId"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Booking"];
        responses: {
            201: components["responses"]["Booking"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    getBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Booking"];
            404: components["responses"]["Problem"];
        };
    };
    moveBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Booking"];
        responses: {
            200: components["responses"]["Booking"];
            404: components["responses"]["Problem"];
            409: components["responses"]["Problem"];
        };
    };
    cancelBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The booking is cancelled. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["Problem"];
        };
    };
}
/** Whether an operation needs credentials. */
export interface security {
    listRooms: "required";
    createRoom: "required";
    getRoom: "required";
    updateRoom: "required";
    deleteRoom: "required";
    listBookings: "required";
    createBooking: "required";
    getBooking: "required";
    moveBooking: "required";
    cancelBooking: "required";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
    listRooms: {
        query: "beds";
    };
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
