/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/** The form of values in requests: dates are strings. */
export type Received = { date: string; list: never };
/** The form of values in replies: also dates as objects, and readonly lists. */
export type Sent = { date: string | DateLike; list: unknown };
/** A Date, a Temporal value, or another object that JSON writes as a string. */
export interface DateLike { toJSON(): string }
/** A list or tuple that may be readonly if it is sent. */
export type MaybeReadonly<T extends readonly unknown[], V extends Sent> =
    T | (Readonly<T> & V['list']);
/** @see openapi.yaml:107 */
export type NewRoom = {
    /**
     * @minLength 1
     * @maxLength 50
     */
    name: string;
    /**
     * @minimum 1
     * @maximum 10
     */
    beds: number;
    /**
     * @maxItems 3
     * @uniqueItems true
     * @default []
     */
    amenities: ("wifi" | "desk" | "bath")[];
};
/** @see openapi.yaml:114 */
export type Room<out V extends Sent = Received> = {
    /**
     * @minLength 1
     * @maxLength 50
     */
    name: string;
    /**
     * @minimum 1
     * @maximum 10
     */
    beds: number;
    /**
     * @maxItems 3
     * @uniqueItems true
     * @default []
     */
    amenities?: MaybeReadonly<("wifi" | "desk" | "bath")[], V>;
    /**
     * @minimum 1
     * @maximum 9007199254740991
     */
    id: number;
};
/** @see openapi.yaml:116 */
export type NewBooking = {
    /** @format date */
    day: string;
    /**
     * @minLength 1
     * @maxLength 50
     */
    guest: string;
};
/** @see openapi.yaml:122 */
export type Booking<out V extends Sent = Received> = {
    /** @format date */
    day: V['date'];
    /**
     * @minLength 1
     * @maxLength 50
     */
    guest: string;
    /**
     * @minimum 1
     * @maximum 9007199254740991
     */
    id: number;
    /**
     * @minimum 1
     * @maximum 9007199254740991
     */
    roomId: number;
};
/** @see openapi.yaml:127 */
export type WithId = {
    /**
     * @minimum 1
     * @maximum 9007199254740991
     */
    id: number;
};
export interface paths {
    "/rooms": {
        get: operations["listRooms"];
        post: operations["createRoom"];
    };
    "/rooms/{roomId}": {
        get: operations["getRoom"];
        put: operations["updateRoom"];
        delete: operations["deleteRoom"];
    };
    "/rooms/{roomId}/bookings": {
        get: operations["listBookings"];
        post: operations["createBooking"];
    };
    "/bookings/{bookingId}": {
        get: operations["getBooking"];
        put: operations["moveBooking"];
        delete: operations["cancelBooking"];
    };
}
export interface components {
    schemas: {
        NewRoom: NewRoom;
        Room: Room;
        NewBooking: NewBooking;
        Booking: Booking;
        WithId: WithId;
    };
}
export interface operations<V extends Sent = Received> {
    /** @see openapi.yaml:6 */
    listRooms: {
        parameters: {
            query?: {
                /**
                 * The minimum number of beds.
                 * @minimum 1
                 * @maximum 10
                 * @default 1
                 */
                beds?: number;
                /** @maxItems 5 */
                amenities?: ("wifi" | "desk" | "bath")[];
                /**
                 * The last id of the previous page.
                 * @minimum 0
                 * @maximum 9007199254740991
                 * @default 0
                 */
                after?: number;
                /**
                 * @minimum 1
                 * @maximum 100
                 * @default 20
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** A page of rooms, in the order of their ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room<V>[] | (readonly Room<V>[] & V['list']);
                };
            };
        };
    };
    /** @see openapi.yaml:17 */
    createRoom: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewRoom;
            };
        };
        responses: {
            /** The room. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room<V>;
                };
            };
        };
    };
    /** @see openapi.yaml:24 */
    getRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The room. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room<V>;
                };
            };
            /** The request failed. */
            404: {
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
    };
    /** @see openapi.yaml:29 */
    updateRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                roomId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewRoom;
            };
        };
        responses: {
            /** The room. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room<V>;
                };
            };
            /** The request failed. */
            404: {
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
    };
    /** @see openapi.yaml:35 */
    deleteRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The room is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** The request failed. */
            409: {
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
    };
    /** @see openapi.yaml:43 */
    listBookings: {
        parameters: {
            query?: {
                /**
                 * The last day of the previous page.
                 * @format date
                 */
                after?: string;
                /**
                 * @minimum 1
                 * @maximum 100
                 * @default 20
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** A page of the bookings of the room, in the order of their days. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Booking<V>[] | (readonly Booking<V>[] & V['list']);
                };
            };
            /** The request failed. */
            404: {
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
    };
    /** @see openapi.yaml:53 */
    createBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                roomId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewBooking;
            };
        };
        responses: {
            /** The booking. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Booking<V>;
                };
            };
            /** The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** The request failed. */
            409: {
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
    };
    /** @see openapi.yaml:63 */
    getBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The booking. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Booking<V>;
                };
            };
            /** The request failed. */
            404: {
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
    };
    /** @see openapi.yaml:68 */
    moveBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewBooking;
            };
        };
        responses: {
            /** The booking. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Booking<V>;
                };
            };
            /** The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** The request failed. */
            409: {
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
    };
    /** @see openapi.yaml:75 */
    cancelBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @minimum 1
                 * @maximum 9007199254740991
                 */
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** The booking is cancelled. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** The request failed. */
            404: {
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
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    listRooms: "bearerAuth";
    createRoom: "bearerAuth";
    getRoom: "bearerAuth";
    updateRoom: "bearerAuth";
    deleteRoom: "bearerAuth";
    listBookings: "bearerAuth";
    createBooking: "bearerAuth";
    getBooking: "bearerAuth";
    moveBooking: "bearerAuth";
    cancelBooking: "bearerAuth";
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
    listRooms: {
        query: "beds" | "after" | "limit";
    };
    listBookings: {
        query: "limit";
    };
}
interface contract {
    operations: operations<Sent>;
    security: security;
    defaults: defaults;
}
/**
 * A handler for each operation. Handlers<typeof verifiers> sets the type of callers, and
 * Handlers<typeof verifiers, { tx: Transaction }> a member of requests that `around` adds.
 */
export type Handlers<V extends Verifiers = {}, M extends object = {}> =
    HandlersOf<contract, V, M>;
/** Middleware around all handlers. It adds the members M to requests: next({ tx }). */
export type Around<V extends Verifiers = {}, M extends object = {}> = AroundOf<contract, V, M>;
/** The validated request that a handler gets. */
export type RequestTo<
    Id extends keyof operations,
    V extends Verifiers = {},
    M extends object = {},
> = RequestOf<contract, Id, V, M>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<contract['operations'][Id]>;
