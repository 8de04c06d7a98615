// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionAwareLockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.CommitCheck;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A store in the database of a transaction is asked right before the commit.
 */
class CommitCheckTests {

	private static final LockRequest FIRST = LockRequest.of("stock", 1);

	private static final LockRequest SECOND = LockRequest.of("stock", 2);

	private final List<LockKey> checked = new ArrayList<>();

	private CommitCheck check = (key, owner) -> this.checked.add(key);

	private Function<LockKey, String> order = LockKey::text;

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new CheckedStore());

	private final LockTemplate template = new LockTemplate(this.registry);

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void eachLockOfTheThreadIsChecked() {
		this.template.executeWithoutResult(LockSetRequest.of(SECOND, FIRST),
				(leases) -> LeaseContext.ensureAllHeldAtCommit());
		assertThat(this.checked).containsExactly(FIRST.key(), SECOND.key());
		LeaseContext.ensureAllHeldAtCommit();
		assertThat(this.checked).hasSize(2);
	}

	@Test
	void nestedLocksAreCheckedInTheOrderOfTheirKeys() {
		LockRequest third = LockRequest.of("stock", 3);
		this.template.executeWithoutResult(SECOND, (second) -> this.template
			.executeWithoutResult(LockSetRequest.of(third, FIRST), (leases) -> LeaseContext.ensureAllHeldAtCommit()));
		assertThat(this.checked).containsExactly(FIRST.key(), SECOND.key(), third.key());
	}

	/** A store may keep its locks under other names, and lock these in their order. */
	@Test
	void theStoreDeterminesTheOrder() {
		this.order = (key) -> key.equals(SECOND.key()) ? "a" : "b";
		LockSetRequest both = LockSetRequest.of(FIRST, SECOND);
		this.template.executeWithoutResult(both, (leases) -> LeaseContext.ensureAllHeldAtCommit());
		this.template.executeWithoutResult(both, LeaseSet::ensureHeldAtCommit);
		LockRegistry threads = new TransactionAwareLockRegistry(this.registry, OnActiveTransaction.DEFER);
		try (Lease first = threads.acquire(FIRST); Lease second = threads.acquire(SECOND)) {
			LeaseContext.ensureAllHeldAtCommit();
			assertThat(first.commitOrder()).isGreaterThan(second.commitOrder());
		}
		assertThat(this.checked).containsExactly(SECOND.key(), FIRST.key(), SECOND.key(), FIRST.key(), SECOND.key(),
				FIRST.key());
	}

	@Test
	void aLeaseThatIsOverInTheStoreIsLost() {
		this.check = (key, owner) -> false;
		this.template.executeWithoutResult(FIRST,
				(lease) -> assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(LeaseContext::ensureAllHeldAtCommit)
					.satisfies((loss) -> assertThat(loss.getFencingToken()).isEqualTo(lease.fencingToken()))
					.withMessageContaining("its lease was over at the commit"));
	}

	@Test
	void aLossThatIsOnlyLoggedIsNotChecked() {
		this.check = (key, owner) -> false;
		this.template.withOnLost(OnLost.LOG)
			.executeWithoutResult(FIRST, (lease) -> LeaseContext.ensureAllHeldAtCommit());
	}

	@Test
	void aStoreThatCannotTellKeepsTheTransactionFromCommitting() {
		this.check = (key, owner) -> {
			throw new IllegalStateException("connection reset");
		};
		this.template.executeWithoutResult(FIRST,
				(lease) -> assertThatIllegalStateException().isThrownBy(LeaseContext::ensureAllHeldAtCommit)
					.withMessage("connection reset"));
	}

	private final class CheckedStore extends DirectStore {

		CheckedStore() {
			super(new MemoryLockStore());
		}

		@Override
		public Optional<CommitCheck> commitCheck() {
			return Optional.of(new CommitCheck() {

				@Override
				public boolean isHeld(LockKey key, OwnerToken owner) {
					return CommitCheckTests.this.check.isHeld(key, owner);
				}

				@Override
				public String order(LockKey key) {
					return CommitCheckTests.this.order.apply(key);
				}

			});
		}

	}

}
