// SPDX-License-Identifier: Apache-2.0

/**
 * Locks in ZooKeeper, through the session of a {@code CuratorFramework}. <pre>
 * store     ZooKeeperLockStore, ZooKeeperWaitingLine    what the engine asks
 *   |
 * session   Sessions, LockSession, LeaseChecks          one session, all locks of this JVM in it
 *   |
 * line      LockLine, with Steps                        one lock: the nodes of this JVM in its line
 *   |           Acquisition one request for the lock; Remains of earlier sessions
 *   |           Places      of this JVM, and their turns
 *   |           Nodes       creates, lists and deletes nodes
 *   |           OwnNode     a node of this JVM: a place, a Holding, or both
 *   |           LineView    all nodes of the lock at one moment
 *   v
 * server    ZooKeeperRequests, SessionChannel, Contact  requests of one session, answered in order
 * </pre> A lock is the container node {@code /distributed-locks/stock:1001}. Its children
 * are ephemeral and sequential: {@code <id>-x-0000000001}, or {@code -s-} if readers may
 * share the lock with it. The first node owns the lock, or all {@code -s-} nodes before
 * the first {@code -x-}. Every other node watches the one node that it waits for.
 * <p>
 * Rules:
 * <ul>
 * <li>A session ends earlier than its time-out after the last read: a member that has
 * lost the leader still answers reads, and reports the requests of its clients to the
 * leader only now and then. So a grant or a renewal needs a write, which a quorum
 * confirms, and counts for two fifths of the time-out. It is sent only if a request that
 * was sent within the last seven twelfths was answered before the last quarter: by then,
 * a member has reported it, because it does so after half a tick. So the leader keeps the
 * session for five twelfths longer. After a silence of a third, as of a paused JVM or a
 * stalled network, nothing is granted or renewed until that is true again.</li>
 * <li>Only the session that has created a node uses it. Whatever a session that is over
 * has left belongs to others, until the server removes it.</li>
 * <li>The requests for one lock are carried out one after another, and nothing blocks: a
 * request is answered by ZooKeeper's event thread, or fails while there is no
 * connection.</li>
 * <li>A node whose creation is not answered has an id that cannot be guessed, by which it
 * is found again. A node that could not be deleted is deleted again.</li>
 * </ul>
 */
@NullMarked
package io.github.lockstarter.zookeeper;

import org.jspecify.annotations.NullMarked;
