// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the script that keeps a lock writes, which the contract of a store does not see.
 */
class RedisKeepScriptTests extends LockScriptHarness {

	private static final Duration HOUR = Duration.ofHours(1);

	@AfterEach
	void giveMemoryBack() {
		redis.command("CONFIG", "SET", "maxmemory", "0");
	}

	@Test
	void theLockHasAValueThatNoOwnerAsksFor() {
		grant(this.owner);
		assertThat(keep()).isTrue();
		assertThat(redis.command("GET", LOCK)).isEqualTo(this.owner.value() + ":kept");
		assertExpiry(LOCK, HOUR);
	}

	@Test
	void aServerWhoseMemoryIsFullKeepsTheLockAsWell() {
		grant(this.owner);
		redis.command("CONFIG", "SET", "maxmemory", "1");
		assertThat(keep()).isTrue();
		assertExpiry(LOCK, HOUR);
	}

	private boolean keep() {
		return store.keep(KEY, this.owner, HOUR);
	}

}
