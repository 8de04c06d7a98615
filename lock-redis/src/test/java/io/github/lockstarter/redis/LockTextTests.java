// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockTextTests {

	private static final String HOSTILE = "{}:%+ \n\r\t\0\\\"'/;,#$.-_*?[]\u007F\u00A0\u00AD\u0890\u202E\u2028äß語\u0301";

	@Test
	void aLockWithoutAKeyHasATextWithoutAColon() {
		assertThat(LockText.parse("stock")).isEqualTo(LockKey.of("stock"));
	}

	@Test
	void theTextOfALockWithAnyKeyStandsForThatLock() {
		Random random = new Random(42);
		for (int i = 0; i < 20_000; i++) {
			StringBuilder key = new StringBuilder("k");
			for (int length = random.nextInt(8); length > 0; length--) {
				int codePoint = random.nextInt(Character.MIN_SURROGATE);
				key.appendCodePoint(
						random.nextBoolean() ? codePoint : HOSTILE.codePointAt(random.nextInt(HOSTILE.length())));
			}
			LockKey lock = LockKey.of("stock", key);
			assertThat(LockText.parse(lock.text())).isEqualTo(lock);
		}
	}

	@Test
	void noLockHasAnotherText() {
		Cases.each(List.of("stock:", "stock:a%", "stock:%zz", "stock:%41", "stock:{", "stock:%ff", "a b"),
				(text) -> assertThatIllegalArgumentException().isThrownBy(() -> LockText.parse(text)));
	}

}
