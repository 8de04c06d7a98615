// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

class OwnerTokenTests {

	private static final String RANDOM = "AbC-_5678901234567890x";

	@Test
	void theValueNamesTheInstance() {
		Cases.each(List.of("orders@web-7f9c:1", "a.b:c.d", "x"), (instance) -> {
			OwnerToken owner = OwnerToken.random(instance, LockMode.FAIR);
			assertThat(owner.value()).matches("\\Q" + instance + "\\E\\.[A-Za-z0-9_-]{22}");
			assertThat(OwnerToken.random(instance, LockMode.FAIR)).isNotEqualTo(owner);
			assertThat(owner).hasToString(instance);
		});
	}

	@Test
	void theValueWithTheAdditionOfAStoreNamesTheInstance() {
		Cases.each(List.of("", ":kept", ":4711:"),
				(addition) -> assertThat(OwnerToken.holder("orders@web:1." + RANDOM + addition))
					.isEqualTo("orders@web:1"));
	}

	@Test
	void aForeignValueIsShortened() {
		Cases.rows("""
				%1$s         | AbC-
				a b.%1$s     | a b.
				.%1$s        | .AbC
				web.tooshort | web.
				é€b'%1$s     | ??b'
				""".formatted(RANDOM),
				(value, shown) -> assertThat(OwnerToken.holder(value)).isEqualTo("a foreign owner '" + shown + "…'"));
		assertThat(OwnerToken.holder("\n\u001b[2" + RANDOM)).isEqualTo("a foreign owner '??[2…'");
	}

	@Test
	void nothingOfAShortForeignValueIsShown() {
		Cases.each(List.of("", "x", "shared", "eleven-char"),
				(value) -> assertThat(OwnerToken.holder(value)).isEqualTo("a foreign owner"));
	}

	@Test
	void aJvmHasANameOfItsOwn() {
		String pid = ":" + ProcessHandle.current().pid();
		assertThat(OwnerToken.instance(null)).endsWith(pid).doesNotContain("@");
		assertThat(OwnerToken.instance("orders")).startsWith("orders@").endsWith(pid);
		assertThat(OwnerToken.instance("Bestellungen für alle")).startsWith("Bestellungen-f-r-alle@");
		assertThat(OwnerToken.instance("x".repeat(100))).hasSize(64).endsWith(OwnerToken.instance(null));
		assertThat(Rule.INSTANCE_NAME.test().test(OwnerToken.instance("x/y".repeat(100)))).isTrue();
	}

}
