// SPDX-License-Identifier: Apache-2.0

/**
 * What happens above every store. A lock asks the store; its waiters only wait for the
 * lock. <pre>
 * registry     DefaultLockRegistry, RegistryLock, ManyLocks      what users call
 *    |
 * waiter       ThreadWaiter | FutureWaiter                       two ways to wait for one outcome:
 *    |  Admission                                                a Hold, or a Denial
 *    v
 * lock         LocalLock, in LocalLocks                          one per key that is held or waited for
 *    |           WaiterQueue   the waiters, first in first out
 *    |           Inquiry       asks the store: Attempt, Listening, Patience
 *    |           Possession    owns the lock in the store: Tenure, Holders of Holds
 *    |           Sharing       lets waiters join those that share the lock
 *    |  Effect, carried out on a Desk
 *    v
 * desk         StoreDesk: Requests, Releases, QueuePlaces, Orphans, LeaseWatchdog with Renewals
 *    |
 * threads      EngineThreads: Timetable, StoreLanes of Servers
 * </pre> The states of a lock are: <pre>
 *  idle ----arrive----&gt; asking ----granted----&gt; held ----exit----&gt; releasing ----returned----+
 *                        ^  |                   |  ^ handed on         (or kept)           |
 *          rung, alarm   |  | refused, failed   |  +--+                                    |
 *                        |  v                   v                                          |
 *                     listening                lost                                        |
 *                                               +------ next waiter: asking; none: idle ---+
 * </pre> Rules:
 * <ul>
 * <li>Whatever a {@code LocalLock} consists of is guarded by its one lock, and changes
 * only by its transitions. A transition never calls the store, a waiter or user code: it
 * returns an {@code Effect}, which the thread that caused it carries out afterwards.</li>
 * <li>An answer of the store is a transition. It is made by the waiter's own thread if
 * that waits, so the store's driver does no work for waiters.</li>
 * <li>Parts of a lock do not know the lock, and neither does a waiter, a hold or a
 * tenure: effects name the lock by its key.</li>
 * <li>A tenure's {@code Certainty} changes under its own monitor, as the watchdog waits
 * for no lock.</li>
 * <li>Threads are started by {@code EngineThreads} and {@code Timetable} only. Requests
 * to a store that may block run on the thread that waits, or in a lane of its
 * server.</li>
 * </ul>
 */
@NullMarked
package io.github.lockstarter.engine;

import org.jspecify.annotations.NullMarked;
