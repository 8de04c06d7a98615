// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class TestLeaseTests {

	private final TestLease lease = TestLease.of("stock", 1001).withFencingToken(42);

	@Test
	void itIsTheCurrentLeaseOfItsBodyOnly() {
		assertThat(this.lease.<Lease, RuntimeException>call(Lease::current)).isSameAs(this.lease);
		assertThatIllegalStateException().isThrownBy(Lease::current);
		assertThat(this.lease.fencingToken()).isEqualTo(42);
		assertThat(this.lease.isHeld()).isFalse();
		assertThat(this.lease.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(this.lease::ensureHeld).withMessageContaining("is closed");
	}

	@Test
	void aBodyMayThrowACheckedException() throws IOException {
		assertThat(this.lease.<Integer, IOException>call(() -> new StringReader("a").read())).isEqualTo('a');
		assertThatIOException().isThrownBy(() -> TestLease.of("stock", 1001).run(() -> {
			throw new IOException("full");
		})).withMessage("full");
	}

	@Test
	void aLossReachesTheBodyItsCallbacksAndItsCaller() {
		List<LockLostException> told = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.lease.run(() -> {
			Lease current = Lease.current();
			current.onLost(told::add);
			assertThat(current.remaining()).isPositive();
			this.lease.lose();
			this.lease.lose();
			assertThat(current.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(current::ensureHeld);
			current.onLost(told::add);
		})).satisfies((ex) -> assertThat(told).containsExactly(ex, ex));
		assertThat(this.lease.closeAsync()).isCompleted();
	}

}
