// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LineViewTests {

	private static final String ID = "orders@web-1:1.a-_4567890123456789012";

	@Test
	void theFirstExclusiveNodeOwnsTheLockAlone() {
		LineView view = view("x3", "x1", "s2");
		assertThat(view.owners()).containsExactly(name("x1"));
		assertThat(view.isTurnOf(name("x1"), false)).isTrue();
		assertThat(view.isTurnOf(name("s2"), true)).isFalse();
	}

	@Test
	void sharedNodesBeforeTheFirstExclusiveOneOwnTheLockTogether() {
		LineView view = view("s1", "s2", "x3", "s4");
		assertThat(view.owners()).containsExactly(name("s1"), name("s2"));
		assertThat(view.isTurnOf(name("s2"), true)).isTrue();
		assertThat(view.isTurnOf(name("s4"), true)).isFalse();
		assertThat(view.isTurnOf(name("x3"), false)).isFalse();
		assertThat(view.isTurnOf(name("x3"), true)).as("a reader in an exclusive place").isTrue();
	}

	@Test
	void eachNodeWaitsForOneOther() {
		LineView view = view("s1", "s2", "x3", "s4", "s5", "x6");
		assertThat(view.blockerOf(name("s2"))).isNull();
		assertThat(view.blockerOf(name("x3"))).isEqualTo(name("s2"));
		assertThat(view.blockerOf(name("s4"))).isEqualTo(name("x3"));
		assertThat(view.blockerOf(name("s5"))).isEqualTo(name("x3"));
		assertThat(view.blockerOf(name("x6"))).isEqualTo(name("s5"));
	}

	@Test
	void otherNodesAreNotPartOfTheLine() {
		assertThat(LineView.of(List.of("lock-0000000001", ID + "-y-0000000001", ID), 1).names()).isEmpty();
	}

	private static LineView view(String... names) {
		return LineView.of(Arrays.stream(names).map(LineViewTests::text).toList(), 1);
	}

	private static NodeName name(String name) {
		return NodeName.ofPath("/locks/stock/" + text(name));
	}

	private static String text(String name) {
		return String.format("%s-%s-%010d", ID, name.charAt(0), Integer.parseInt(name.substring(1)));
	}

}
