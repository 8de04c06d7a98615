// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.List;
import java.util.stream.Stream;

import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

class LockPathsTests {

	private final LockPaths paths = new LockPaths(null, "/distributed-locks");

	@Test
	void aLockIsAReadableChildOfTheRoot() {
		assertThat(this.paths.of(LockKey.of("stock", 1001))).isEqualTo("/distributed-locks/stock:1001");
		assertThat(this.paths.of(LockKey.of("stock"))).isEqualTo("/distributed-locks/stock");
		assertThat(this.paths.of(LockKey.of("stock", "Füße 鍵"))).isEqualTo("/distributed-locks/stock:Füße 鍵");
	}

	@Test
	void differentLocksHaveDifferentPathsThatZooKeeperAllows() {
		List<String> paths = Stream
			.concat(Stream
				.of("a/b", "a%2Fb", "a%252Fb", "/", "//", ".", "..", "🔒", "\uF8FF", "\uFFF0", "a\0", "a\u0085",
						"%F0%9F%94%92", "a\tb", "\u200B")
				.map((key) -> LockKey.of("stock", key)), Stream.of(".", "..", "...", "stock").map(LockKey::of))
			.map(this.paths::of)
			.toList();
		assertThat(paths).doesNotHaveDuplicates().allSatisfy(PathUtils::validatePath).allSatisfy((path) -> {
			assertThat(path).startsWith("/distributed-locks/");
			assertThat(path.lastIndexOf('/')).isEqualTo("/distributed-locks".length());
		});
	}

	@Test
	void aNamespaceComesFirst() {
		LockPaths paths = new LockPaths("apps/shop", "/locks");
		assertThat(paths.of(LockKey.of("stock"))).isEqualTo("/apps/shop/locks/stock");
		assertThat(paths.ancestors()).containsExactly("/apps", "/apps/shop", "/apps/shop/locks");
	}

	@Test
	void theLockOfANodeIsKnown() {
		assertThat(LockPaths.lockOf("/locks/stock:1/node")).isEqualTo("/locks/stock:1");
	}

}
