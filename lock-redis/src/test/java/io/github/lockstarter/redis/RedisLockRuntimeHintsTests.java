// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class RedisLockRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	RedisLockRuntimeHintsTests() {
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(RedisLockRuntimeHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@Test
	void allScriptsAreInNativeImages() throws Exception {
		Resource[] scripts = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:" + LockScript.LOCATION + "*");
		assertThat(scripts).extracting(Resource::getFilename)
			.filteredOn((name) -> name.endsWith(".lua"))
			.contains("acquire.lua", "renew.lua", "release.lua", "withdraw.lua")
			.allSatisfy((name) -> assertThat(
					RuntimeHintsPredicates.resource().forResource(LockScript.LOCATION + name).test(this.hints))
				.isTrue());
	}

	@Test
	void theServersOfLettuceAreFoundInNativeImages() {
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(LettuceConnectionFactory.class)
			.withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS)
			.test(this.hints)).isTrue();
	}

	@Test
	void theConnectionsOfJedisAreFoundInNativeImages() {
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(UnifiedJedis.class)
			.withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS)
			.test(this.hints)).isTrue();
	}

}
