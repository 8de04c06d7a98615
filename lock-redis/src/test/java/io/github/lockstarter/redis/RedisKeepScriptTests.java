// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every branch of the script that keeps a lock. Each test sets up the state that leads to
 * the branch.
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
		assertThat(ttl(LOCK)).isBetween(Duration.ofMinutes(59), HOUR);
	}

	@Test
	void theSameRequestAgainChangesNothing() {
		grant(this.owner);
		keep();
		redis.command("PEXPIRE", LOCK, "5000");
		assertThat(keep()).isTrue();
		assertThat(ttl(LOCK)).isLessThanOrEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void anotherOwnerChangesNothing() {
		redis.command("SET", LOCK, "somebody-else", "PX", "5000");
		assertThat(keep()).isFalse();
		assertThat(redis.command("GET", LOCK)).isEqualTo("somebody-else");
		assertThat(ttl(LOCK)).isLessThanOrEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void aServerWhoseMemoryIsFullKeepsTheLockAsWell() {
		grant(this.owner);
		redis.command("CONFIG", "SET", "maxmemory", "1");
		assertThat(keep()).isTrue();
		assertThat(ttl(LOCK)).isBetween(Duration.ofMinutes(59), HOUR);
	}

	private boolean keep() {
		return store.keep(KEY, this.owner, HOUR);
	}

}
