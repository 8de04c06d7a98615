// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.WorkerJvm;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances of an application in processes of their own.
 */
class ManyProcessesTests {

	private static final int THREADS = 16;

	private static final int INCREMENTS = 20;

	@TempDir
	private Path folder;

	private TestEnsemble ensemble;

	private CuratorFramework client;

	@BeforeEach
	void start() throws Exception {
		this.ensemble = TestEnsemble.startPatient();
		this.client = TestServers.connected(this.ensemble.connectString(), TestServers.PATIENT);
	}

	@AfterEach
	void stop() throws Exception {
		this.client.close();
		this.ensemble.close();
	}

	@Test
	void twoProcessesLoseNoUpdateOfAPlainCounter() throws Exception {
		assertThat(count(true)).isEqualTo(2 * THREADS * INCREMENTS);
	}

	@Test
	@FullProfileOnly
	void withoutTheLockTheSameCounterLosesUpdates() throws Exception {
		assertThat(count(false)).isLessThan(2 * THREADS * INCREMENTS);
	}

	@Test
	void aPausedProcessKnowsThatItHasLostItsLock() throws Exception {
		try (WorkerJvm worker = WorkerJvm.start(PausedWorker.class, this.ensemble.connectString());
				ZooKeeperLockStore store = TestServers.store(this.client);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, LockListener.NO_OP)) {
			String process = worker.readLine();
			long first = Long.parseLong(worker.readLine());
			signal("STOP", process);
			long second;
			long grantedAt;
			try (Lease lease = registry.acquire(LockRequest.of("paused").withWaitTime(Duration.ofSeconds(30)))) {
				grantedAt = System.nanoTime();
				second = lease.fencingToken();
				signal("CONT", process);
				assertThat(Long.parseLong(worker.readLine()) - grantedAt).as("last held").isNegative();
			}
			assertThat(second).isGreaterThan(first);
			assertThat(Long.parseLong(worker.readLine())).isGreaterThan(second);
		}
	}

	@Test
	void aKilledProcessLosesItsLockWithItsSession() throws Exception {
		try (WorkerJvm worker = WorkerJvm.start(PausedWorker.class, this.ensemble.connectString());
				ZooKeeperLockStore store = TestServers.store(this.client);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, LockListener.NO_OP)) {
			worker.readLine();
			long token = Long.parseLong(worker.readLine());
			LockRequest request = LockRequest.of("paused");
			assertThat(registry.tryAcquire(request.withWaitTime(Duration.ZERO))).isEmpty();
			worker.kill();
			try (Lease lease = registry.acquire(request.withWaitTime(Duration.ofSeconds(30)))) {
				assertThat(lease.fencingToken()).isGreaterThan(token);
			}
		}
	}

	private static void signal(String signal, String process) throws IOException, InterruptedException {
		assertThat(new ProcessBuilder("kill", "-" + signal, process).inheritIO().start().waitFor()).isZero();
	}

	private int count(boolean locking) throws Exception {
		Path counter = Files.writeString(this.folder.resolve("counter"), "00000000");
		String members = this.ensemble.connectString();
		try (WorkerJvm one = WorkerJvm.start(CounterWorker.class, members, counter, THREADS, INCREMENTS, locking);
				WorkerJvm two = WorkerJvm.start(CounterWorker.class, members, counter, THREADS, INCREMENTS, locking)) {
			assertThat(one.readLine()).isEqualTo("ready");
			assertThat(two.readLine()).isEqualTo("ready");
			one.proceed();
			two.proceed();
			one.awaitSuccess();
			two.awaitSuccess();
			return CounterWorker.read(counter);
		}
	}

}
