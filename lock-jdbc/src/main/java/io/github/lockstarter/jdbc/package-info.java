// SPDX-License-Identifier: Apache-2.0

/**
 * Locks in a relational database: one row for each lock, and leases that expire by the
 * clock of the database. <pre>
 * store        JdbcLockStore
 *    |           ExclusiveLocks     one statement for an exclusive lock without a line
 *    |           LeaseRenewals      one statement for many leases
 *    |           LockRows           a short transaction for everything else
 *    |             LastStatements   its end, in one round trip where the driver can do that
 *    |             LockState, Line  what the rows say, and the rules by which they change
 *    |           JdbcWaitingLine
 *    |           ReleaseSignal      the one thread: PostgresMessages, or MessagePoll
 *    |           IdleRows           deletes rows that nobody needs
 * database     LockDatabase: connections, time limits, retries; LockSql of a Dialect
 * </pre>
 */
@NullMarked
package io.github.lockstarter.jdbc;

import org.jspecify.annotations.NullMarked;
