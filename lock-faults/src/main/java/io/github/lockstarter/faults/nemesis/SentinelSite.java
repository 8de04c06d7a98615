// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.RedisServer;

/**
 * A primary, a replica, and a sentinel that exchanges them.
 */
final class SentinelSite implements RedisSite {

	/** After a standstill of the machine, a sentinel does nothing for 30 s. */
	private static final long LONGEST_FAILOVER = 120_000_000_000L;

	private RedisServer primary = RedisServer.start();

	private RedisServer replica = RedisServer.startReplicaOf(this.primary);

	private final RedisServer sentinel;

	SentinelSite() throws InterruptedException {
		awaitReplica();
		this.sentinel = RedisServer.startSentinelOf(this.primary, ServerAddress.PRIMARY);
		while (!this.sentinel.command("SENTINEL", "REPLICAS", ServerAddress.PRIMARY).contains("127.0.0.1")) {
			Thread.sleep(20);
		}
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.SENTINEL, List.of(this.sentinel.address()));
	}

	@Override
	public List<RedisServer> servers() {
		return List.of(this.primary);
	}

	RedisServer replica() {
		return this.replica;
	}

	/**
	 * Wait until the replica has replaced the killed primary, and restart the latter as a
	 * replica.
	 */
	void exchange() throws InterruptedException {
		RedisServer old = this.primary;
		awaitPromotion();
		old.restart();
		old.command("REPLICAOF", "127.0.0.1", String.valueOf(this.primary.port()));
		awaitReplica();
	}

	/**
	 * Let the sentinel promote the replica although the primary is well.
	 */
	void promote() throws InterruptedException {
		this.sentinel.command("SENTINEL", "FAILOVER", ServerAddress.PRIMARY);
		awaitPromotion();
	}

	private void awaitPromotion() throws InterruptedException {
		long start = System.nanoTime();
		String promoted = String.valueOf(this.replica.port());
		while (!this.sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", ServerAddress.PRIMARY).endsWith(promoted)
				|| !this.replica.command("ROLE").startsWith("master")) {
			if (System.nanoTime() - start > LONGEST_FAILOVER) {
				throw new IllegalStateException("The sentinel did not promote the replica");
			}
			Thread.sleep(20);
		}
		RedisServer old = this.primary;
		this.primary = this.replica;
		this.replica = old;
	}

	/**
	 * Wait until the primary has a replica. A sentinel demotes a former primary that is
	 * well after 8 to 20 s.
	 */
	void awaitReplica() throws InterruptedException {
		while (!this.replica.command("ROLE").contains("connected")) {
			Thread.sleep(20);
		}
	}

	@Override
	public void close() {
		this.sentinel.close();
		this.replica.close();
		this.primary.close();
	}

}
