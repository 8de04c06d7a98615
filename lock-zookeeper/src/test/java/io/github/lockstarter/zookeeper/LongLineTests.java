// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.File;
import java.time.Duration;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What becomes of a lock that is in use without a pause until the server has no further
 * numbers for its nodes.
 */
class LongLineTests {

	private static final LockKey KEY = LockKey.of("stock", 1);

	private static final String PATH = "/distributed-locks/stock:1";

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	@TempDir
	private File directory;

	private ZooKeeperServer server;

	private ServerCnxnFactory connections;

	private CuratorFramework one;

	private CuratorFramework two;

	private StoreClient locks;

	private StoreClient otherLocks;

	@BeforeEach
	void start() throws Exception {
		this.server = new ZooKeeperServer(this.directory, this.directory, 200);
		this.server.setMaxSessionTimeout(20_000);
		this.connections = ServerCnxnFactory.createFactory(0, 10);
		this.connections.startup(this.server);
		String address = "127.0.0.1:" + this.connections.getLocalPort();
		this.one = TestServers.connected(address, TestServers.PATIENT);
		this.two = TestServers.connected(address, TestServers.PATIENT);
		this.locks = new StoreClient(TestServers.store(this.one));
		this.otherLocks = new StoreClient(TestServers.store(this.two));
	}

	@AfterEach
	void stop() {
		this.two.close();
		this.one.close();
		this.connections.shutdown();
	}

	@Test
	void aLockHasOneOwnerAlthoughTheServerRepeatsTheLargestNumber() throws Exception {
		OwnerToken owner = OwnerToken.random();
		assertThat(acquire(this.locks, owner)).isInstanceOf(AcquireResult.Grant.class);
		countUpTo(Integer.MAX_VALUE);
		for (int i = 0; i < 10; i++) {
			StoreClient any = (i % 2 == 0) ? this.otherLocks : this.locks;
			assertThatIllegalStateException().isThrownBy(() -> acquire(any, OwnerToken.random()))
				.withMessageContaining(PATH);
		}
		assertThat(this.locks.renew(KEY, owner, LEASE_TIME)).isTrue();
		this.locks.release(KEY, owner);
		assertThat(acquire(this.otherLocks, owner)).isInstanceOf(AcquireResult.Grant.class);
		assertThat(acquire(this.locks, OwnerToken.random())).isInstanceOf(AcquireResult.Refusal.class);
		assertThat(numbers()).containsExactly(0L);
	}

	@Test
	void aFreeLockBeginsWithSmallNumbersAgain() throws Exception {
		OwnerToken owner = OwnerToken.random();
		AcquireResult.Grant before = (AcquireResult.Grant) acquire(this.locks, owner);
		this.locks.release(KEY, owner);
		countUpTo(2_000_000_000);
		AcquireResult.Grant after = (AcquireResult.Grant) acquire(this.otherLocks, owner);
		assertThat(after.fencingBase()).isGreaterThan(before.fencingBase());
		assertThat(numbers()).containsExactly(0L);
	}

	private static AcquireResult acquire(StoreClient client, OwnerToken owner) {
		return client.acquire(KEY, owner, LEASE_TIME, false);
	}

	private void countUpTo(int number) {
		this.server.getZKDatabase().getDataTree().getNode(PATH).stat.setCversion(number);
	}

	private List<Long> numbers() throws Exception {
		return TestServers.nodes(this.one, PATH)
			.stream()
			.map((node) -> NodeName.ofPath(PATH + '/' + node).number())
			.toList();
	}

}
