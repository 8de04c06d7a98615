// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.servers.WorkerJvm;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances in processes of their own. The fault suite attacks them in many more ways.
 */
@Tag("clock")
class LocksAcrossJvmsTests {

	private final RedisDatabase redis = SharedServers.redis();

	/** Whatever else went wrong. */
	@AfterEach
	void noJvmSawAnotherOwner() {
		String violation = this.redis.command("GET", CountingWorker.VIOLATION);
		SafetyViolation.check(violation.equals("(nil)"), "%s", violation);
	}

	@Test
	void afterTheEndOfAKilledHolderTheOthersLoseNoUpdate() throws Exception {
		try (WorkerJvm holder = start(true); WorkerJvm other = start(false)) {
			String token = holder.readLine();
			this.redis.command("SET", "token", token);
			other.proceed();
			Call<Void> here = Callers.start(() -> {
				CountingWorker.count(this.redis.port(), this.redis.number());
				return null;
			});
			Awaitility.await().until(() -> this.redis.command("ZCARD", "lock:{counter:1}:queue").equals("2"));
			SafetyViolation.check(this.redis.command("EXISTS", "counter").equals("0"), "a second owner counted");
			holder.kill();
			// Nobody renews the lease any more
			this.redis.command("PEXPIRE", "lock:{counter:1}", "1");
			other.awaitSuccess();
			here.get();
			String counter = this.redis.command("GET", "counter");
			int increments = 2 * CountingWorker.THREADS * CountingWorker.INCREMENTS;
			SafetyViolation.check(counter.equals(Integer.toString(increments)), "%s instead of %d increments", counter,
					increments);
			assertThat(this.redis.command("KEYS", "lock:*")).isEqualTo("lock:{counter:1}:fence");
		}
	}

	private WorkerJvm start(boolean holding) {
		return WorkerJvm.start(CountingWorker.class, this.redis.port(), this.redis.number(), holding);
	}

}
