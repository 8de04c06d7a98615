// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.test.WorkerJvm;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers, writers and FAIR owners in three processes, one of which may be killed.
 */
class LockModesAcrossJvmsTests {

	private static final int JVMS = 3;

	private static final int WRITERS = 4;

	private static final int READERS = 8;

	private static final int ROUNDS = 60;

	private static final int FAIR_CALLERS = 6;

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final List<WorkerJvm> jvms = new ArrayList<>();

	@Test
	@FullProfileOnly
	void noReaderSeesWhatAWriterIsAboutToDoThoughOneJvmIsKilled() throws Exception {
		for (int i = 0; i < JVMS; i++) {
			this.jvms
				.add(WorkerJvm.start(ReadWriteWorker.class, this.redis.port(), "jvm" + i, WRITERS, READERS, ROUNDS));
		}
		try {
			for (WorkerJvm jvm : this.jvms) {
				assertThat(jvm.readLine()).isEqualTo("ready");
			}
			for (WorkerJvm jvm : this.jvms) {
				jvm.proceed();
			}
			Awaitility.await().until(() -> number(ReadWriteWorker.WRITTEN) >= WRITERS * ROUNDS / 2);
			assertThat(this.redis.command("EXISTS", ReadWriteWorker.DIFFERENCES)).isEqualTo("0");
			this.jvms.get(0).kill();
			this.jvms.get(1).awaitSuccess();
			this.jvms.get(2).awaitSuccess();
		}
		finally {
			this.jvms.forEach(WorkerJvm::close);
		}
		assertThat(list(ReadWriteWorker.DIFFERENCES)).allMatch("jvm0"::equals);
		assertThat(number(ReadWriteWorker.FIRST)).isEqualTo(number(ReadWriteWorker.SECOND));
		assertThat(number(ReadWriteWorker.SECOND) - number(ReadWriteWorker.WRITTEN)).isBetween(0, 1);
		assertThat(number(ReadWriteWorker.WRITTEN)).isGreaterThanOrEqualTo(2 * WRITERS * ROUNDS);
		assertNothingIsLeftBut("lock:{counters:1}:fence");
	}

	@Test
	@FullProfileOnly
	void theOrderOfGrantsIsTheOrderOfArrival() throws Exception {
		try (RedisRegistry registry = RedisRegistry.lettuce(this.redis)) {
			Lease lease = registry.acquire(FairWorker.REQUEST);
			List<String> arrivals = startFairWorkers();
			lease.close();
			for (WorkerJvm jvm : this.jvms) {
				jvm.awaitSuccess();
			}
			assertThat(list(FairWorker.GRANTS))
				.isEqualTo(arrivals.stream().map(LockModesAcrossJvmsTests::owner).toList());
			assertNothingIsLeftBut(FairWorker.LOCK + ":fence");
		}
		finally {
			this.jvms.forEach(WorkerJvm::close);
		}
	}

	@Test
	@FullProfileOnly
	void theOrderOfGrantsIsTheOrderOfArrivalThoughTheFirstJvmIsKilled() throws Exception {
		try (RedisRegistry registry = RedisRegistry.lettuce(this.redis)) {
			Lease lease = registry.acquire(FairWorker.REQUEST);
			List<String> arrivals = startFairWorkers();
			String dead = jvm(arrivals.get(0));
			this.jvms.get(0).kill();
			// Otherwise the others could wait for it until they poll
			Awaitility.await().until(() -> !this.redis.command("PUBSUB", "CHANNELS").contains(dead));
			lease.close();
			this.jvms.get(1).awaitSuccess();
			this.jvms.get(2).awaitSuccess();
			assertThat(list(FairWorker.GRANTS)).hasSize((JVMS - 1) * FAIR_CALLERS)
				.isEqualTo(arrivals.stream()
					.filter((place) -> !jvm(place).equals(dead))
					.map(LockModesAcrossJvmsTests::owner)
					.toList());
			assertNothingIsLeftBut(FairWorker.LOCK + ":fence");
		}
		finally {
			this.jvms.forEach(WorkerJvm::close);
		}
	}

	/**
	 * Return the places of all callers in the order of their tickets.
	 */
	private List<String> startFairWorkers() throws Exception {
		for (int i = 0; i < JVMS; i++) {
			this.jvms.add(WorkerJvm.start(FairWorker.class, this.redis.port(), i, JVMS, FAIR_CALLERS));
		}
		for (WorkerJvm jvm : this.jvms) {
			assertThat(jvm.readLine()).isEqualTo("waiting");
		}
		Awaitility.await()
			.until(() -> this.redis.command("ZCARD", FairWorker.LOCK + ":queue")
				.equals(Integer.toString(JVMS * FAIR_CALLERS)));
		List<String> places = List.of(this.redis.command("ZRANGE", FairWorker.LOCK + ":queue", "0", "-1").split("\n"));
		for (int i = JVMS; i < places.size(); i++) {
			assertThat(jvm(places.get(i))).isEqualTo(jvm(places.get(i - JVMS))).isNotEqualTo(jvm(places.get(i - 1)));
		}
		return places;
	}

	/** The locks of a killed process expire with their leases. */
	private void assertNothingIsLeftBut(String fence) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(this.redis.command("KEYS", "lock:*").split("\n")).containsExactly(fence));
	}

	private int number(String counter) {
		String value = this.redis.command("GET", counter);
		return value.equals("(nil)") ? 0 : Integer.parseInt(value);
	}

	private List<String> list(String key) {
		String elements = this.redis.command("LRANGE", key, "0", "-1");
		return elements.isEmpty() ? List.of() : List.of(elements.split("\n"));
	}

	private static String jvm(String place) {
		return place.substring(0, place.indexOf(':'));
	}

	private static String owner(String place) {
		return place.substring(place.indexOf(':') + 1);
	}

}
