// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Each answer of a server ends its request, also one that means nothing to this client.
 */
class SessionChannelTests {

	private static final int OF_A_NEWER_SERVER = -999;

	@AutoClose
	private static CuratorFramework client;

	@BeforeAll
	static void connect() throws Exception {
		client = TestServers.connected(SharedServers.zooKeeper(), TestServers.PATIENT);
	}

	@Test
	void eachCodeEndsTheRequest() {
		assertThat(EnumSet.complementOf(EnumSet.of(Code.OK)))
			.allSatisfy((code) -> assertThat(answered(code.intValue())).isCompletedExceptionally());
	}

	@Test
	void refusedCredentialsAreNoMissingRight() throws Exception {
		assertThat(answered(Code.AUTHFAILED.intValue())).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(UnusableStoreException.class)
			.withMessage("ZooKeeper has refused the credentials of the CuratorFramework");
	}

	@Test
	void aClientThatIsNotStartedIsRefused() {
		try (CuratorFramework client = CuratorFrameworkFactory.newClient(SharedServers.zooKeeper(),
				new RetryOneTime(1))) {
			assertThatIllegalArgumentException().isThrownBy(() -> TestServers.store(client).close())
				.withMessageEndingWith("start it before the store, for example with @Bean(initMethod = \"start\")");
		}
	}

	@Test
	void aCodeThatIsNotKnownEndsTheRequestToo() throws Exception {
		assertThat(answered(OF_A_NEWER_SERVER)).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IOException.class)
			.withMessageContaining("/stock with the code -999");
	}

	@Test
	void nothingIsConfirmedAfterASilenceThatTheSessionMayNotHaveSurvived() throws Exception {
		AtomicLong now = new AtomicLong();
		SessionChannel channel = channel(now::get);
		assertThat(confirmed(channel)).isCompletedWithValue(true);
		now.addAndGet(TimeUnit.MILLISECONDS.toNanos(channel.sessionTimeout()));
		assertThat(confirmed(channel)).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withMessageContaining("ZooKeeper may not have heard of this session for too long");
		channel.connected(now.get());
		assertThat(confirmed(channel)).isCompletedWithValue(true);
	}

	private static CompletableFuture<Boolean> confirmed(SessionChannel channel) {
		return channel.confirm("/stock", (answer) -> answer.settle(Code.OK.intValue(), true));
	}

	private static SessionChannel channel(LongSupplier nanoTime) throws Exception {
		return new SessionChannel(client.getZookeeperClient().getZooKeeper(), () -> true, nanoTime.getAsLong(),
				nanoTime);
	}

	private static CompletableFuture<Boolean> answered(int code) throws Exception {
		return channel(() -> 0).send("/stock", (answer) -> settle(answer, code));
	}

	/** As the event thread of the client does, which only logs what a callback throws. */
	private static void settle(SessionChannel.Answer<Boolean> answer, int code) {
		Thread thread = new Thread(() -> answer.settle(code, null));
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
