// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.transaction.FenceTablePreparation;
import io.github.lockstarter.transaction.FencingCheck;
import io.github.lockstarter.transaction.TransactionFences;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Fences the transactions of all transaction managers, where settings or annotations say
 * so.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(TransactionsPresent.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LockFencingConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionFences distributedLockTransactionFences(BeanFactory beanFactory) {
		return new TransactionFences(beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	FencingCheck distributedLockFencingCheck(TransactionFences fences, LockDefinitionSource definitions,
			ObjectProvider<FenceTablePreparation> preparation) {
		// A method reference would load the classes of spring-jdbc, which may be absent
		FenceTablePreparation require = (table) -> table.require();
		return new FencingCheck(fences, preparation.getIfAvailable(() -> require), definitions::asksForFence);
	}

}
