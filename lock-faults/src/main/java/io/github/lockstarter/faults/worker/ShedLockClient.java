// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The JDBC provider of ShedLock with the time of the database. ShedLock never waits, so
 * this asks every 100 ms; and its {@code KeepAliveLockProvider} refuses leases of less
 * than 30 seconds, so the holder extends the lock. There are no fencing tokens.
 */
final class ShedLockClient implements LockClient {

	private static final long PAUSE_MILLIS = 100;

	private final Duration leaseTime;

	private final HikariDataSource pool;

	private final LockProvider provider;

	ShedLockClient(ServerAddress address, Duration leaseTime) {
		this.leaseTime = leaseTime;
		this.pool = DatabasePool.to(address, 8);
		this.provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(this.pool))
			.usingDbTime()
			.build());
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		long end = System.nanoTime() + waitTime.toNanos();
		Optional<SimpleLock> lock = ask(key);
		while (lock.isEmpty() && end - System.nanoTime() > 0) {
			Thread.sleep(PAUSE_MILLIS);
			lock = ask(key);
		}
		return lock.map((granted) -> new ShedLockHeld(granted, this.leaseTime)).orElse(null);
	}

	private Optional<SimpleLock> ask(String key) {
		return this.provider.lock(new LockConfiguration(Instant.now(), key, this.leaseTime, Duration.ZERO));
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.pool.close();
	}

	private static final class ShedLockHeld implements Held {

		private final Duration leaseTime;

		private final HolderRenewal renewal;

		private SimpleLock lock;

		ShedLockHeld(SimpleLock lock, Duration leaseTime) {
			this.lock = lock;
			this.leaseTime = leaseTime;
			this.renewal = new HolderRenewal(leaseTime);
		}

		@Override
		public long token() {
			return 0;
		}

		@Override
		public boolean isHeld() {
			return this.renewal.isHeld(this::extend);
		}

		private boolean extend() {
			Optional<SimpleLock> extended = this.lock.extend(this.leaseTime, Duration.ZERO);
			extended.ifPresent((lock) -> this.lock = lock);
			return extended.isPresent();
		}

		@Override
		public void unlock() {
			this.lock.unlock();
		}

	}

}
