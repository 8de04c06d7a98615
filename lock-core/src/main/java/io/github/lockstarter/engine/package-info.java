// SPDX-License-Identifier: Apache-2.0

/**
 * The engine above every store. A lock asks the store; its waiters only wait for the
 * lock. <pre>
 * registry     DefaultLockRegistry                      what users call; HeldLease is what they get
 *    |           MultiLockAcquisition                     several locks, one after another
 *    v
 * waiter       ThreadWaiter | FutureWaiter              two ways to wait for one outcome:
 *    |                                                  a Hold, or an AcquireFailure
 *    v
 * lock         LocalLock, in LocalLocks                 one per key that is held or waited for:
 *    |  LockActions                                     its waiters, Holds, Attempt, Ownerships
 *    v
 * gateway      StoreGateway                             requests for waiters; all of them end
 *              LeaseWatchdog, Orphans                   requests for ownerships, and after them
 *              LeaseEvents, OutageLog, Warnings         what is told to listeners and the log
 *    v
 * threads      EngineThreads, Timetable, Time
 * </pre> The states of a lock are: <pre>
 *  idle --arrive--&gt; asking --granted--&gt; held --exit--&gt; (held by the next waiter that suits, within the slice)
 *                    ^  |                |    \--else--&gt; releasing --on its way--&gt; asking, or idle
 *    message, alarm  |  | refused,       |
 *                    |  v failed         +--lost--&gt; asking, or idle
 *                   waiting
 * </pre> A lock with readers is held and asking, or waiting, at the same time. Three
 * rules:
 * <ul>
 * <li>The guard of a {@code LocalLock} protects its state, and only its transitions
 * change it. A transition never calls the store, a waiter or user code, except
 * {@code equals} and {@code hashCode} of owners: the thread that caused it does that when
 * the guard is free again.</li>
 * <li>An answer of the store causes a transition. It runs on the waiter's own thread if
 * the waiter has one, so the store's driver does no work for waiters. Only
 * {@code EngineThreads} and {@code Timetable} start threads.</li>
 * <li>An {@code Ownership} and a {@code Hold} end under their own monitors, because the
 * watchdog renews and ends them without the guard of their lock. It takes the guard only
 * to tell the holders.</li>
 * </ul>
 */
@NullMarked
package io.github.lockstarter.engine;

import org.jspecify.annotations.NullMarked;
