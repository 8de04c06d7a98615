// SPDX-License-Identifier: Apache-2.0

/**
 * The engine above every store. A lock asks the store; its waiters only wait for the
 * lock. <pre>
 * registry     DefaultLockRegistry                               what users call
 *    |           MultiLockAcquisition                              several locks, one after another
 *    |
 * waiter       ThreadWaiter | FutureWaiter                       two ways to wait for one outcome:
 *    |  Admission                                                a Hold, or a Denial
 *    v
 * lock         LocalLock, in LocalLocks                          one per key that is held or waited for
 *    |           Entrance      admits waiters and lets them leave
 *    |           WaiterQueue   the waiters, first in first out
 *    |           Inquiry       asks the store: Attempt, Listening, Patience
 *    |           Possession    owns the lock in the store: Tenure (Certainty, Slice), Holders of Holds
 *    |           Sharing       lets waiters join the holders of a shared lock
 *    |  Effect, carried out on a Desk
 *    v
 * desk         StoreDesk: Requests, Releases, QueuePlaces, Orphans, LeaseWatchdog with Renewals
 *    |  Answers                                                  no request throws, or lasts for ever
 * threads      EngineThreads, Timetable
 * </pre> The states of a lock are: <pre>
 *  idle ----arrive----&gt; asking ----granted----&gt; held ----exit----&gt; releasing ----returned----+
 *                        ^  |                   |  ^ handed on         (or kept)           |
 *          rung, alarm   |  | refused, failed   |  +--+                                    |
 *                        |  v                   v                                          |
 *                     listening                lost                                        |
 *                                               +------ next waiter: asking; none: idle ---+
 * </pre> Rules:
 * <ul>
 * <li>The one guard of a {@code LocalLock} protects all its parts, and only transitions
 * change them. A transition never calls the store, a waiter or user code, except
 * {@code equals} and {@code hashCode} of owners: it returns an {@code Effect}, which the
 * thread that caused the transition carries out afterwards.</li>
 * <li>An answer of the store causes a transition. It runs on the waiter's own thread if
 * the waiter has one, so the store's driver does no work for waiters.</li>
 * <li>The parts of a lock have no reference to the lock, nor has a waiter, a hold or a
 * tenure: effects name the lock by its key.</li>
 * <li>A tenure's {@code Certainty} changes under its own monitor, because the watchdog
 * never waits for the guard of a lock.</li>
 * <li>Only {@code EngineThreads} and {@code Timetable} start threads. Requests to a store
 * that may block run on the waiting thread, or on a few others.</li>
 * </ul>
 */
@NullMarked
package io.github.lockstarter.engine;

import org.jspecify.annotations.NullMarked;
