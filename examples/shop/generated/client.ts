/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import { type Client, type ClientOptions, clientOf, type Route } from 'openapi-document/client';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/**
 * @see schemas/customer.yaml:11
 */
export type NewCustomer = CustomerWritable & {
    password: string;
};
/**
 * @see schemas/customer.yaml:1
 */
export type Customer = {
    /** Format: uuid */
    id: string;
    /** Format: email */
    email: string;
    name: Text;
    /** Format: date */
    birthday?: string | null;
    /** Format: date-time */
    createdAt: string;
};
/**
 * @description A text that PostgreSQL stores exactly, without U+0000 and lone surrogates.
 * @see schemas/common.yaml:1
 */
export type Text = string;
/**
 * @description A JSON Merge Patch (RFC 7396). `null` removes the birthday.
 * @see schemas/customer.yaml:15
 */
export type CustomerPatch = {
    /** Format: email */
    email?: string;
    name?: Text;
    /** Format: date */
    birthday?: string | null;
};
/**
 * @description Euros with two decimals, for one piece.
 * @example 19.90
 * @see schemas/common.yaml:5
 */
export type Price = string;
/**
 * @see schemas/product.yaml:14
 */
export type ProductPage = {
    items: Product[];
    /** @description The cursor of the next page. */
    next: string | null;
};
/**
 * @see schemas/product.yaml:10
 */
export type Product = NewProduct & {
    tags: Text[];
};
/**
 * @see schemas/product.yaml:1
 */
export type NewProduct = {
    /**
     * Format: int64
     * @description The GTIN of the product.
     */
    id: Int64;
    name: Text;
    price: Price;
    stock: number;
    tags?: Text[];
};
/**
 * @enum {string}
 * @see schemas/order.yaml:1
 */
export type OrderStatus = "open" | "paid" | "cancelled";
/**
 * @see schemas/order.yaml:29
 */
export type OrderPage = {
    items: Order[];
    next: string | null;
};
/**
 * @see schemas/order.yaml:18
 */
export type Order = NewOrder & {
    /** Format: uuid */
    id: string;
    /** Format: uuid */
    customerId: string;
    status: OrderStatus;
    total: Amount;
    /** Format: date-time */
    placedAt: string;
};
/**
 * @see schemas/order.yaml:11
 */
export type NewOrder = {
    lines: OrderLine[];
    note?: string | null;
    /** Format: date */
    deliverOn?: string;
};
/**
 * @see schemas/order.yaml:4
 */
export type OrderLine = {
    /** Format: int64 */
    productId: Int64;
    quantity: number;
    price?: Price;
};
/**
 * @description Euros with two decimals, summed over pieces and orders.
 * @example 1980.50
 * @see schemas/common.yaml:10
 */
export type Amount = string;
/**
 * @see schemas/order.yaml:35
 */
export type OrderEvent = {
    id?: string;
    /** @enum {string} */
    event: "status";
    data: string;
};
/**
 * @see schemas/payment.yaml:1
 */
export type PaymentMethod = (Card & {
    /** @enum {unknown} */
    method: "card";
}) | (Transfer & {
    /** @enum {unknown} */
    method: "transfer";
}) | (Voucher & {
    /** @enum {unknown} */
    method: "voucher";
});
/**
 * @see schemas/payment.yaml:12
 */
export type Card = {
    method: string;
    lastDigits?: string;
};
/**
 * @see schemas/payment.yaml:19
 */
export type Transfer = {
    method: string;
    /**
     * Format: iban
     * @example DE89370400440532013000
     */
    iban: string;
};
/**
 * @see schemas/payment.yaml:25
 */
export type Voucher = {
    method: string;
    code: string;
};
/**
 * @see schemas/payment.yaml:31
 */
export type Payment = {
    /** Format: uuid */
    id: string;
    /** Format: uuid */
    orderId: string;
    amount: Amount;
    /** @enum {string} */
    state: "pending" | "received";
    method: PaymentMethod;
};
/**
 * @see schemas/payment.yaml:40
 */
export type Notification = {
    /** Format: uuid */
    paymentId: string;
    /** @enum {string} */
    state: "received";
};
/**
 * @see schemas/document.yaml:1
 */
export type Upload = {
    /** Format: binary */
    file: string;
    kind: Kind;
    title?: Text;
};
/**
 * @enum {string}
 * @see schemas/document.yaml:8
 */
export type Kind = "invoice" | "photo";
/**
 * @see schemas/document.yaml:11
 */
export type Document = {
    /** Format: uuid */
    id: string;
    /** Format: uuid */
    orderId: string;
    kind: Kind;
    title?: string;
    contentType: string;
    size: number;
};
/**
 * @see schemas/report.yaml:1
 */
export type NewReport = {
    /** Format: date */
    from: string;
    /** Format: date */
    to: string;
};
/**
 * @see schemas/report.yaml:8
 */
export type Report = {
    /** Format: uuid */
    id: string;
    /** @enum {string} */
    state: "running" | "done";
    /** Format: date */
    from: string;
    /** Format: date */
    to: string;
    revenue?: Amount;
};
/**
 * @see schemas/problem.yaml:1
 */
export type problem = {
    /**
     * Format: uri-reference
     * @description `about:blank`, or one of the problems of this shop: `/problems/out-of-stock`, `/problems/email-taken`,
     *     `/problems/product-exists`, `/problems/order-closed`, `/problems/key-reused`.
     */
    type: string;
    title: string;
    status: number;
    detail?: string;
    errors?: {
        path: string;
        message: string;
    }[];
};
/**
 * @see schemas/order.yaml:11
 */
export type NewOrderWritable = {
    lines: OrderLineWritable[];
    note?: string | null;
    /** Format: date */
    deliverOn?: string;
};
/**
 * @see schemas/payment.yaml:1
 */
export type PaymentMethodWritable = (CardWritable & {
    /** @enum {unknown} */
    method: "card";
}) | (Transfer & {
    /** @enum {unknown} */
    method: "transfer";
}) | (Voucher & {
    /** @enum {unknown} */
    method: "voucher";
});
/**
 * @see schemas/customer.yaml:1
 */
export type CustomerWritable = {
    /** Format: email */
    email: string;
    name: Text;
    password?: string;
    /** Format: date */
    birthday?: string | null;
};
/**
 * @see schemas/order.yaml:4
 */
export type OrderLineWritable = {
    /** Format: int64 */
    productId: Int64;
    quantity: number;
};
/**
 * @see schemas/payment.yaml:12
 */
export type CardWritable = {
    method: string;
    token: string;
};
export interface components {
    schemas: {
        NewCustomer: NewCustomer;
        Customer: Customer;
        Text: Text;
        CustomerPatch: CustomerPatch;
        Price: Price;
        ProductPage: ProductPage;
        Product: Product;
        NewProduct: NewProduct;
        OrderStatus: OrderStatus;
        OrderPage: OrderPage;
        Order: Order;
        NewOrder: NewOrder;
        OrderLine: OrderLine;
        Amount: Amount;
        OrderEvent: OrderEvent;
        PaymentMethod: PaymentMethod;
        Card: Card;
        Transfer: Transfer;
        Voucher: Voucher;
        Payment: Payment;
        Notification: Notification;
        Upload: Upload;
        Kind: Kind;
        Document: Document;
        NewReport: NewReport;
        Report: Report;
        problem: problem;
        NewOrderWritable: NewOrderWritable;
        PaymentMethodWritable: PaymentMethodWritable;
        CustomerWritable: CustomerWritable;
        OrderLineWritable: OrderLineWritable;
        CardWritable: CardWritable;
    };
}
export interface operations {
    /**
     * @see paths/customers.yaml:2
     */
    createCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewCustomer;
            };
        };
        responses: {
            /** @description The new customer. */
            201: {
                headers: {
                    ETag: string;
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/customers.yaml:20
     */
    getCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                customerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The customer. */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/customers.yaml:46
     */
    deleteCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                customerId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The customer is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/customers.yaml:30
     */
    updateCustomer: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the version to change. */
                "If-Match": string;
            };
            path: {
                customerId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": CustomerPatch;
            };
        };
        responses: {
            /** @description The changed customer. */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Customer;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @description Public.
     * @see paths/products.yaml:2
     */
    listProducts: {
        parameters: {
            query?: {
                /** @description Products with all of these tags. */
                tags?: Text[];
                price?: {
                    min?: Price;
                    max?: Price;
                };
                /** @description The `next` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of products. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ProductPage;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/products.yaml:29
     */
    createProduct: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewProduct;
            };
        };
        responses: {
            /** @description The new product. */
            201: {
                headers: {
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Product;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/products.yaml:48
     */
    getProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                productId: Int64;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The product. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Product;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/orders.yaml:2
     */
    listOrders: {
        parameters: {
            query?: {
                status?: OrderStatus;
                /** @description The `next` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the customer's orders, the latest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": OrderPage;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/orders.yaml:14
     */
    createOrder: {
        parameters: {
            query?: never;
            header: {
                /** @description A repeated request with the same key gets the same order. */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewOrderWritable;
            };
        };
        responses: {
            /** @description The new order. */
            201: {
                headers: {
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/orders.yaml:41
     */
    getOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/orders.yaml:52
     */
    cancelOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cancelled order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Order;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/orders.yaml:64
     */
    watchOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current status, and each change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": AsyncIterable<{
                        id?: string;
                        /** @enum {string} */
                        event: "status";
                        data: {
                            status: OrderStatus;
                            /** Format: date-time */
                            at: string;
                        };
                    }>;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/payments.yaml:4
     */
    payOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": PaymentMethodWritable;
            };
        };
        responses: {
            /** @description The payment. The provider notifies the shop when the money has arrived. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Payment;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @description Called by the payment provider.
     * @see paths/payments.yaml:17
     */
    notifyPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Notification;
            };
        };
        responses: {
            /** @description The notification is stored. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/documents.yaml:4
     */
    uploadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** Format: binary */
                    file: File;
                    kind: Kind;
                    title?: Text;
                };
            };
        };
        responses: {
            /** @description The stored document. */
            201: {
                headers: {
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Document;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/documents.yaml:28
     */
    downloadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                documentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": unknown;
                    "image/png": unknown;
                    "image/jpeg": unknown;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/reports.yaml:2
     */
    startReport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewReport;
            };
        };
        responses: {
            /** @description The report is being created. */
            202: {
                headers: {
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Report;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
    /**
     * @see paths/reports.yaml:21
     */
    getReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                reportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Report;
                };
            };
            /** @description The request failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": problem;
                };
            };
        };
    };
}
export interface webhooks {
}

const routes: { readonly [Id in keyof operations]: Route } = {
  "createCustomer": {
    "method": "POST",
    "path": "/customers",
    "parameters": [],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "getCustomer": {
    "method": "GET",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "deleteCustomer": {
    "method": "DELETE",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "updateCustomer": {
    "method": "PATCH",
    "path": "/customers/{customerId}",
    "parameters": [
      {
        "in": "path",
        "name": "customerId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "header",
        "name": "If-Match",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "application/merge-patch+json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "listProducts": {
    "method": "GET",
    "path": "/products",
    "parameters": [
      {
        "in": "query",
        "name": "tags",
        "style": "form",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "price",
        "style": "deepObject",
        "explode": false,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "cursor",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "limit",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "createProduct": {
    "method": "POST",
    "path": "/products",
    "parameters": [],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "getProduct": {
    "method": "GET",
    "path": "/products/{productId}",
    "parameters": [
      {
        "in": "path",
        "name": "productId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "listOrders": {
    "method": "GET",
    "path": "/orders",
    "parameters": [
      {
        "in": "query",
        "name": "status",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "cursor",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      },
      {
        "in": "query",
        "name": "limit",
        "style": "form",
        "explode": true,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "createOrder": {
    "method": "POST",
    "path": "/orders",
    "parameters": [
      {
        "in": "header",
        "name": "Idempotency-Key",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "getOrder": {
    "method": "GET",
    "path": "/orders/{orderId}",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "cancelOrder": {
    "method": "POST",
    "path": "/orders/{orderId}/cancel",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "watchOrder": {
    "method": "GET",
    "path": "/orders/{orderId}/events",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": [
      {
        "type": "text/event-stream",
        "sequence": "events",
        "items": {
          "data": "json"
        }
      }
    ]
  },
  "payOrder": {
    "method": "POST",
    "path": "/orders/{orderId}/payments",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "notifyPayment": {
    "method": "POST",
    "path": "/payment-notifications",
    "parameters": [],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "uploadDocument": {
    "method": "POST",
    "path": "/orders/{orderId}/documents",
    "parameters": [
      {
        "in": "path",
        "name": "orderId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [
      {
        "type": "multipart/form-data",
        "encoding": {
          "file": {
            "contentType": "application/pdf, image/png, image/jpeg"
          }
        }
      }
    ],
    "streams": []
  },
  "downloadDocument": {
    "method": "GET",
    "path": "/documents/{documentId}",
    "parameters": [
      {
        "in": "path",
        "name": "documentId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  },
  "startReport": {
    "method": "POST",
    "path": "/reports",
    "parameters": [],
    "media": [
      {
        "type": "application/json",
        "encoding": {}
      }
    ],
    "streams": []
  },
  "getReport": {
    "method": "GET",
    "path": "/reports/{reportId}",
    "parameters": [
      {
        "in": "path",
        "name": "reportId",
        "style": "simple",
        "explode": false,
        "json": false,
        "allowReserved": false
      }
    ],
    "media": [],
    "streams": []
  }
};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> =>
    clientOf<operations>(routes, options);
